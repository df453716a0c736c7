// Node.js before 24 has no Float16Array, which the library names when it is loaded; no array here is of that type.
(globalThis as { Float16Array?: unknown }).Float16Array ??= class Float16Array {};
