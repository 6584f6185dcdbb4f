/** The version of this release, which only package.json states. */
import manifest from '../../package.json' with { type: 'json' }

export const VERSION: string = manifest.version
