import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** One import among the files of a project. Paths are from the repository's top, with slashes. */
export interface Import {
  readonly importer: string;
  /** What the importer writes, such as `./grid.js`. */
  readonly specifier: string;
  readonly file: string;
}

/** For each file, the files that it imports. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/**
 * The imports of a TypeScript project, by the compiler's own account: imports of types alone count,
 * and so do re-exports and `import()`. `project` is a tsconfig.json. Imports of Node.js itself are
 * not among them.
 */
export function importsOf(project: string): Import[] {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const options = [
    '--noEmit',
    '--noCheck',
    '--incremental',
    'false',
    '--composite',
    'false',
    '--explainFiles',
  ];
  const told = execFileSync(process.execPath, [compiler, '-p', project, ...options], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  return readImports(told);
}

/**
 * Reads what `tsc --explainFiles` prints: each file in a line of its own, then, indented, why it is
 * in the program.
 */
export function readImports(told: string): Import[] {
  const imports: Import[] = [];
  let file = '';
  for (const line of told.split('\n')) {
    if (/^\S/.test(line)) file = line.trim();
    const [, specifier, importer] = /Imported via ['"]([^'"]+)['"] from file '([^']+)'/.exec(line) ?? [];
    if (importer !== undefined) imports.push({ importer, specifier: specifier!, file });
  }
  return imports;
}

/** The graph of the imports whose both ends lie in a folder. */
export function graphOf(imports: readonly Import[], folder: string): ImportGraph {
  const graph = new Map<string, string[]>();
  const targetsOf = (file: string): string[] => graph.get(file) ?? graph.set(file, []).get(file)!;
  for (const { importer, file } of imports) {
    if (!importer.startsWith(folder) || !file.startsWith(folder)) continue;
    targetsOf(importer).push(file);
    targetsOf(file);
  }
  return graph;
}

/** The circles of a graph: each a list of files that all reach one another (Tarjan, 1972). */
export function circlesOf(graph: ImportGraph): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (file: string): void => {
    const own = order.size;
    order.set(file, own);
    lowest.set(file, own);
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(next)!));
    }
    if (lowest.get(file) !== own) return;
    const circle = stack.splice(stack.indexOf(file));
    if (circle.length > 1 || graph.get(file)?.includes(file)) circles.push(circle);
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return circles;
}

/**
 * One way around a circle, such as `a.ts -> b.ts -> a.ts`: the shortest from its first file, in
 * order of names.
 */
export function wayAround(graph: ImportGraph, circle: readonly string[]): string {
  const [start] = [...circle].sort();
  const ways = [[start!]];
  const seen = new Set<string>();
  for (const way of ways) {
    for (const next of graph.get(way.at(-1)!) ?? []) {
      if (next === start) return [...way, start].join(' -> ');
      if (!circle.includes(next) || seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return circle.join(', ');
}
