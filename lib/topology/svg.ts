import { type Axis, GRID_NAMES, type Grid, type Mesh } from '../mesh/mesh.js';
import { groupNumber } from './topology.js';

const MOST_RANKS = 64;
const CELL = 36;
const GAP = 4;
const COLUMNS = 8;
const MARGIN = 24;
const PANEL_GAP = 36;
const PANEL_TITLE = 46;
const GRID_TITLE = 34;
const HEADER = 84;
const LEGEND = 76;
const PANEL_MIN_WIDTH = 190;
const MIN_WIDTH = 640;

// Neighbouring groups get hues far apart; a hue returns after twelve, and the number in the cell tells which group it is.
const HUES = [210, 30, 120, 330, 60, 270, 180, 0, 90, 300, 150, 240];

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Where the drawn ranks go, the same in every panel: stages as boxes, the ranks of a stage row by row. */
interface Plan {
  readonly ranks: readonly { readonly rank: number; readonly x: number; readonly y: number }[];
  readonly stages: readonly Box[];
  readonly width: number;
  readonly height: number;
}

/**
 * A self-contained picture of a mesh's groups: a panel per grid and axis, ranks as cells in the same places, coloured
 * and numbered by group. Worlds of more than 64 ranks show the first and say so. Follows the viewer's colour scheme.
 */
export function topologySVG(mesh: Mesh): string {
  const plan = makePlan(mesh);
  const panelWidth = Math.max(plan.width, PANEL_MIN_WIDTH);
  const panels = Math.max(...GRID_NAMES.map((name) => mesh.grid(name).axes.length));
  const width = Math.max(MIN_WIDTH, 2 * MARGIN + panels * panelWidth + (panels - 1) * PANEL_GAP);
  const rowHeight = GRID_TITLE + PANEL_TITLE + plan.height + PANEL_GAP;
  const legendTop = HEADER + GRID_NAMES.length * rowHeight;
  const height = legendTop + LEGEND;

  const rows = GRID_NAMES.map((name, row) => {
    const grid = mesh.grid(name);
    const top = HEADER + row * rowHeight;
    const drawn = grid.axes.map((axis, column) =>
      panel(mesh, grid, axis, plan, MARGIN + column * (panelWidth + PANEL_GAP), top + GRID_TITLE),
    );
    return [text(MARGIN, top + 18, 'grid', gridTitle(grid)), ...drawn].join('\n');
  });
  const shown = plan.ranks.length;
  const note = shown < mesh.world ? `Shown: ${shown} of ${mesh.world} ranks; groups go on beyond them.` : '';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>Rank groups: ${mesh.describe()}</title>`,
    `<style>${style()}</style>`,
    `<rect class="page" width="${width}" height="${height}"/>`,
    text(MARGIN, 38, 'head', `World of ${mesh.world} rank${mesh.world === 1 ? '' : 's'}`),
    text(MARGIN, 60, 'note', [stageNote(mesh), note].filter(Boolean).join('. ')),
    ...rows,
    legend(legendTop),
    '</svg>',
    '',
  ].join('\n');
}

function stageNote({ pp, stage }: Mesh): string {
  const ranks = `${stage} rank${stage === 1 ? '' : 's'}`;
  return pp === 1 ? `One pipeline stage of ${ranks}` : `${pp} pipeline stages (outlined) of ${ranks} each`;
}

function gridTitle(grid: Grid): string {
  return `${grid.name} grid: ${grid.axes.map(({ name, size }) => `${name} ${size}`).join(' × ')}`;
}

function makePlan({ stage, pp }: Mesh): Plan {
  const perStage = Math.min(stage, MOST_RANKS);
  const stages = Math.min(pp, Math.max(1, Math.floor(MOST_RANKS / perStage)));
  const columns = columnsOf(perStage);
  const step = CELL + GAP;
  const box = { width: columns * step + GAP, height: Math.ceil(perStage / columns) * step + GAP };
  const across = Math.max(1, Math.floor(COLUMNS / columns));
  const boxes = Array.from({ length: stages }, (_, s) => ({
    x: (s % across) * (box.width + 2 * GAP),
    y: Math.floor(s / across) * (box.height + 2 * GAP),
    ...box,
  }));
  const ranks = boxes.flatMap(({ x, y }, s) =>
    Array.from({ length: perStage }, (_, i) => ({
      rank: s * stage + i,
      x: x + GAP + (i % columns) * step,
      y: y + GAP + Math.floor(i / columns) * step,
    })),
  );
  return {
    ranks,
    stages: boxes,
    width: Math.max(...boxes.map(({ x, width }) => x + width)),
    height: Math.max(...boxes.map(({ y, height }) => y + height)),
  };
}

/** Full rows where the stage has a divisor near eight, so that a column is a coordinate; else rows of eight. */
function columnsOf(ranks: number): number {
  for (let columns = COLUMNS; columns >= COLUMNS / 2; columns--) if (ranks % columns === 0) return columns;
  return Math.min(ranks, COLUMNS);
}

function panel(mesh: Mesh, grid: Grid, axis: Axis, plan: Plan, x: number, y: number): string {
  const count = mesh.world / axis.size;
  const subtitle =
    axis.size === 1
      ? 'every rank alone'
      : `${count} group${count === 1 ? '' : 's'} of ${axis.size}, stride ${axis.stride}`;
  const role = axis.name === grid.dataAxis ? ' (data, ZeRO shards)' : '';
  const outlines = plan.stages.map(
    (box) =>
      `<rect class="stage" x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}" rx="7"/>`,
  );
  const cells = plan.ranks.map((cell) => drawCell(cell.rank, axis, cell.x, cell.y));
  return [
    `<g transform="translate(${x} ${y})">`,
    text(0, 14, 'axis', axis.name + role),
    text(0, 32, 'note', subtitle),
    `<g transform="translate(0 ${PANEL_TITLE})">`,
    ...outlines,
    ...cells,
    '</g></g>',
  ].join('\n');
}

function drawCell(rank: number, axis: Axis, x: number, y: number): string {
  const group = groupNumber(rank, axis);
  const alone = axis.size === 1;
  const fill = alone ? 'alone' : `h${group % HUES.length}`;
  const middle = x + CELL / 2;
  const number = text(middle, alone ? y + 23 : y + 17, 'rank', String(rank));
  const tag = alone ? '' : text(middle, y + 30, 'tag', `g${group}`);
  return `<rect class="${fill}" x="${x}" y="${y}" width="${CELL}" height="${CELL}" rx="5"/>${number}${tag}`;
}

function legend(top: number): string {
  const alone = MARGIN + CELL + 340;
  const sample = { name: '', size: 2, stride: 1 };
  return [
    `<line class="rule" x1="${MARGIN}" y1="${top}" x2="${MIN_WIDTH - MARGIN}" y2="${top}"/>`,
    drawCell(6, sample, MARGIN, top + 18),
    text(MARGIN + CELL + 10, top + 33, 'note', 'rank 6, of group 3 along this axis;'),
    text(MARGIN + CELL + 10, top + 50, 'note', 'same colour and number: one group'),
    drawCell(6, { ...sample, size: 1 }, alone, top + 18),
    text(alone + CELL + 10, top + 41, 'note', 'a rank alone'),
  ].join('\n');
}

function text(x: number, y: number, style: string, content: string): string {
  return `<text class="${style}" x="${x}" y="${y}">${content}</text>`;
}

function style(): string {
  const hues = (saturation: number, lightness: number): string =>
    HUES.map((hue, i) => `.h${i}{fill:hsl(${hue},${saturation}%,${lightness}%)}`).join('');
  return [
    'text{font-family:system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:#1c2330}',
    '.head{font-size:22px;font-weight:600}.grid{font-size:17px;font-weight:600}.axis{font-size:14px;font-weight:600}',
    '.note{font-size:13px;fill:#525c6b}.rank{font-size:13px;font-weight:600;text-anchor:middle}',
    '.tag{font-size:10px;text-anchor:middle}',
    '.page{fill:#fff}.stage{fill:none;stroke:#aab3c0}.rule{stroke:#d5dae1}.alone{fill:#e9ecf0}',
    hues(72, 80),
    '@media (prefers-color-scheme:dark){',
    'text{fill:#eef1f6}.note{fill:#aeb7c4}.page{fill:#14181f}.stage{stroke:#566072}.rule{stroke:#333b48}',
    `.alone{fill:#2a313c}${hues(48, 30)}`,
    '}',
  ].join('');
}
