/** The release this is: package.json says it, and nobody else. */
import manifest from '../../package.json' with { type: 'json' }

export const VERSION: string = manifest.version
