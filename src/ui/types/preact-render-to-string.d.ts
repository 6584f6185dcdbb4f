/** The part of preact-render-to-string that is used here. */
import type { VNode } from './preact.d.ts'

export const renderToString: (node: VNode) => string
