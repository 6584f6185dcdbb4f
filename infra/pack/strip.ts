/** One source file as the package holds it: without types, and with imports that name the JavaScript files. */
import { stripTypeScriptTypes } from 'node:module'

/** A relative path of a source file in quotes: an import, or a module that is started or read by its address. */
const SOURCE = /'(\.{1,2}\/[^'\n]*)\.ts'/g

/**
 * Lines that held only types are empty after stripping. One empty line stays, so that positions in error messages
 * remain useful.
 */
const EMPTY_LINES = /\n(?:[ \t]*\n){2,}/g

/**
 * `isSource` tells whether a path relative to this file, such as `./worker.ts`, names a source file; other texts stay
 * as they are.
 */
export const packedText = (text: string, isSource: (path: string) => boolean): string =>
  stripTypeScriptTypes(text)
    .replaceAll(/[ \t]+$/gm, '')
    .replaceAll(EMPTY_LINES, '\n\n')
    .replaceAll(SOURCE, (whole, path: string) => (isSource(`${path}.ts`) ? `'${path}.js'` : whole))
