/** One thing that was looked for on this host. */
export interface Finding {
  readonly name: string;
  readonly ok: boolean;
  /** Whether a job on this host's processors can do without. */
  readonly optional: boolean;
  /** What is there, or what is wrong. */
  readonly found: string;
  /** How to get what is missing. */
  readonly mend?: string;
}

/** What the backend for GPUs says of this host: `library` is where it is, or why it is not. */
export type GpuAnswer = Readonly<Record<string, string>>;

/** What a rank of the probe says. */
export type ProbeAnswer =
  | { readonly size: number; readonly library: string; readonly facts: Readonly<Record<string, string>> }
  | { readonly error: string };
