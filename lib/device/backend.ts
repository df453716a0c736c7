import type { RawBackend } from '../native/types.js';
import { Resource } from './resource.js';

/**
 * The native part of a `Device`, which is the only class that extends it. Files that `Device`
 * itself imports, such as `buffer.ts`, take a `Backend`: so they need not import `device.ts`.
 */
export abstract class Backend extends Resource<RawBackend> {}
