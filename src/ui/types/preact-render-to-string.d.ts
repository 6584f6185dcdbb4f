/** What of preact-render-to-string is used here. */
import type { VNode } from './preact.d.ts'

export const renderToString: (node: VNode) => string
