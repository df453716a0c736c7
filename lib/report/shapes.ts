/** One point of a chart. Both coordinates are finite. */
export interface Point {
  /** On the axis below. */
  readonly x: number;
  readonly y: number;
  /** The name of the line that it belongs to. */
  readonly series: string;
}

/** A chart with one line for each series. */
export interface LineChart {
  /** The label of the axis below. */
  readonly x: string;
  /** The label of the axis on the left. */
  readonly y: string;
  /** `linear` for counts such as of steps. Default `powersOfTwo`. */
  readonly xScale?: 'powersOfTwo' | 'linear';
  readonly points: readonly Point[];
  /**
   * The axis on the left. `zeroAndLog` is logarithmic above 1024 and has a place for 0, as numbers
   * of bytes need it.
   */
  readonly scale: 'log' | 'linear' | 'zeroAndLog';
  /**
   * The text of a value of that axis, for its ticks and for what a reader sees when pointing at a
   * mark.
   */
  readonly format: (value: number) => string;
  /** A line across, such as a machine's limit. */
  readonly limit?: { readonly y: number; readonly label: string };
}

/** One chart of a page. */
export interface Section {
  readonly heading: string;
  /** SVG, as `lineChart` gives it. It goes into the page as it is; all other texts are escaped. */
  readonly chart: string;
  readonly caption: string;
}

/** A table of texts. */
export interface Table {
  readonly head: readonly string[];
  /** Each row has as many cells as `head`. */
  readonly rows: readonly (readonly string[])[];
}

/** What stands on a page, from top to bottom. */
export interface Page {
  readonly title: string;
  /** One paragraph below the title. */
  readonly lead: string;
  /** The names of the legend: the `series` that the page's charts were drawn with. */
  readonly series: readonly string[];
  readonly sections: readonly Section[];
  readonly table: Table;
  /** One paragraph each, below the table. */
  readonly notes: readonly string[];
}
