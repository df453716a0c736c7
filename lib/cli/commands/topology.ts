import { Command, InvalidArgumentError } from 'commander';
import { Mesh, type MeshSizes } from '../../mesh/mesh.js';
import { topologySVG } from '../../topology/svg.js';
import { describeTopology, topologyText } from '../../topology/topology.js';
import { writeNamedFile } from '../write-file.js';

interface TopologyOptions extends MeshSizes {
  nativeEp?: number;
  nativeEtp?: number;
  json?: true;
  svg?: string;
}

export function topologyCommand(): Command {
  return new Command('topology')
    .summary('show which ranks of a mesh work together')
    .description('Shows the rank groups of a mesh, as text, as JSON, or as a picture of its grids.')
    .requiredOption('--world <ranks>', 'ranks in all', parseSize)
    .option('--pp <stages>', 'pipeline stages', parseSize)
    .option('--tp <lanes>', 'tensor lanes', parseSize)
    .option('--ep <size>', 'expert parallel size of folded experts', parseSize)
    .option('--etp <size>', 'expert tensor parallel size of folded experts', parseSize)
    .option('--native-ep <size>', 'expert parallel size of native experts', parseSize)
    .option('--native-etp <size>', 'expert tensor parallel size of native experts', parseSize)
    .option('--json', 'print JSON')
    .option('--svg <file>', 'write the picture to a file as well')
    .action(topology);
}

function topology({ json, svg, nativeEp, nativeEtp, ...sizes }: TopologyOptions): void {
  const native = {
    ...(nativeEp === undefined ? {} : { ep: nativeEp }),
    ...(nativeEtp === undefined ? {} : { etp: nativeEtp }),
  };
  const mesh = new Mesh({ ...sizes, native });
  if (svg !== undefined) writeNamedFile('--svg', svg, topologySVG(mesh));
  process.stdout.write(json ? `${JSON.stringify(describeTopology(mesh))}\n` : topologyText(mesh));
}

function parseSize(text: string): number {
  const size = Number(text);
  // What fits the mesh is the mesh's to say.
  if (/^\d+$/.test(text)) return size;
  throw new InvalidArgumentError('It must be a number of ranks.');
}
