const isInstance = Function.prototype[Symbol.hasInstance];

/**
 * Base of the classes whose objects are given as arguments. `instanceof` is true for what their constructors made and false
 * for anything that only looks so, such as a proxy or `Object.create(Mesh.prototype)`, whose private fields are not there;
 * it runs no code of the value's.
 */
export abstract class Genuine {
  readonly #type: object;

  constructor() {
    this.#type = new.target;
  }

  static [Symbol.hasInstance](value: unknown): boolean {
    if (typeof value !== 'object' || value === null || !(#type in value)) return false;
    // biome-ignore lint/complexity/noThisInStatic: the class that `instanceof` was asked about is a subclass.
    return value.#type === this || isInstance.call(this, value);
  }
}
