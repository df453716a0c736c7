// Loaded into every rank before its script. What a full pipe does not take Node.js keeps in memory, without bound, and loses
// when the process exits at once. A rank waits for its reader instead, as it does on a terminal.

interface Handle {
  setBlocking?(on: boolean): void;
}

for (const stream of [process.stdout, process.stderr] as { _handle?: Handle }[]) {
  // Neither files nor the streams of a worker thread have it, and neither need it.
  stream._handle?.setBlocking?.(true);
}
