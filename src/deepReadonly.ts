/** A type of which nothing can be changed at any depth: for what was read by a schema. */
export type DeepReadonly<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends readonly (infer Item)[]
    ? readonly DeepReadonly<Item>[]
    : { readonly [Name in keyof T]: DeepReadonly<T[Name]> }
