import * as foldstep from '#lib/index.js';
import * as parallel from '#lib/parallel/index.js';
import * as report from '#lib/report/index.js';
import * as safetensors from '#lib/safetensors/index.js';

type Class = { readonly name: string; readonly prototype: object };

/** Everything that the package exports, by name. */
export const EXPORTS: Readonly<Record<string, unknown>> = {
  ...foldstep,
  ...parallel,
  ...report,
  ...safetensors,
};

/**
 * What one can call of an export: itself, and a class's static methods, methods and setters, its bases' too, such as
 * `Mesh`, `Buffer.from` and `Buffer#view`. `dispose` is left out: it takes nothing and ends what it is called on.
 */
export function callablesOf(name: string): string[] {
  const value = EXPORTS[name];
  if (typeof value !== 'function') return [];
  const names = [name];
  for (const key of Object.getOwnPropertyNames(value)) {
    if (!['length', 'name', 'prototype'].includes(key)) names.push(`${name}.${key}`);
  }
  for (const [key, { value: method, set }] of membersOf(value as unknown as Class)) {
    if (typeof method === 'function' || set !== undefined) names.push(`${name}#${key}`);
  }
  return names;
}

/** The names of a class's getters, its bases' too. */
export function gettersOf(type: object): string[] {
  return [...membersOf(type as Class)].flatMap(([key, { get }]) => (get === undefined ? [] : [key]));
}

function membersOf({ prototype }: Class): Map<string, PropertyDescriptor> {
  const members = new Map<string, PropertyDescriptor>();
  // Error.prototype and what is above it are not of the package.
  for (let at = prototype; at && at !== Error.prototype && at !== Object.prototype; at = baseOf(at)) {
    for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(at ?? {}))) {
      if (!['constructor', 'dispose'].includes(key) && !members.has(key)) members.set(key, descriptor);
    }
  }
  return members;
}

function baseOf(prototype: object): object {
  return Object.getPrototypeOf(prototype) as object;
}

/** What a name that `callablesOf` gives stands for; `make` gives the object of a method. */
export async function calleeOf(name: string, make: () => unknown): Promise<(...args: unknown[]) => unknown> {
  const [, owner, , member] = /^(\w+)(?:([.#])(\w+))?$/.exec(name)!;
  if (member === undefined) {
    const callee = EXPORTS[owner!] as (...args: unknown[]) => unknown;
    return isClass(callee) ? (...args) => Reflect.construct(callee, args) : callee;
  }
  const holder = (name.includes('#') ? await make() : EXPORTS[owner!]) as Record<string, never>;
  return (...args) => Reflect.apply(holder[member]!, holder, args);
}

export function isClass(value: unknown): boolean {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));
}
