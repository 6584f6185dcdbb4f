/** The part of preact that is used here. Its own types would add those of a browser to every file of the program. */
export type VNode = { readonly type: unknown; readonly props: object; readonly key: unknown }
export type ComponentChild = VNode | string | number | bigint | boolean | null | undefined | readonly ComponentChild[]
export const h: (
  type: string,
  props: Readonly<Record<string, string | number | boolean | null | undefined>> | null,
  ...children: readonly ComponentChild[]
) => VNode
/** For both, `parent` is the element that contains the tree. */
export const hydrate: (node: VNode, parent: object) => void
export const render: (node: VNode, parent: object) => void
