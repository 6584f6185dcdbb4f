/** A type in which nothing can be changed at any depth; for values that a schema has parsed. */
export type DeepReadonly<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends readonly (infer Item)[]
    ? readonly DeepReadonly<Item>[]
    : { readonly [Name in keyof T]: DeepReadonly<T[Name]> }
