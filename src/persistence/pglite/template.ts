/**
 * An empty store that was made in advance: creating a store with `initdb` and all migrations takes seconds of processor
 * time, unpacking this one takes some tenths of a second. `npm ci` in a checkout and `npm pack` make it
 * (infra/pack/store.ts).
 *
 * TEMPLATE-1 a template is used only for a folder that does not exist yet; that folder appears complete, or not at all;
 * TEMPLATE-2 a template is used only undamaged, and only with the release of the embedded database and the migrations
 *    that made it;
 * TEMPLATE-3 without a fitting template the store is created as if there were no templates.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import * as v from 'valibot'
import { MIGRATIONS, MODULE_EXTENSION, migrationNames } from '../migrate.ts'

/** The folder of the template: beside `src/` in a checkout, beside `dist/` in the package. */
export const TEMPLATES = fileURLToPath(new URL('../../../prepared/', import.meta.url))
const [DESCRIPTION, CONTENT] = ['store.json', 'store.gz']
const CONTENT_MAX_BYTES = 256 * 1024 * 1024

/** `bytes`: the length of a file; null for a folder. */
const Entry = v.object({ path: v.string(), bytes: v.nullable(v.number()) })
/** `migrations`: the digest of each source file, by name. */
const Description = v.object({
  database: v.string(),
  migrations: v.record(v.string(), v.string()),
  digest: v.string(),
  entries: v.array(Entry),
})
type Description = v.InferOutput<typeof Description>

const digestOf = (content: Buffer, entries: Description['entries'] = []): string =>
  createHash('sha256').update(JSON.stringify(entries)).update(content).digest('hex')

const databaseRelease = (): string => {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite')
  const manifest = readFileSync(join(dirname(entry), '../package.json'), 'utf8')
  return v.parse(v.object({ version: v.string() }), JSON.parse(manifest)).version
}

const ownMigrations = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    migrationNames().map((name) => [name, digestOf(readFileSync(new URL(`${name}${MODULE_EXTENSION}`, MIGRATIONS)))]),
  )

/**
 * In a checkout a migration may have been edited since. In the package the files are compiled, and only their names can
 * be compared.
 */
const isByOurMigrations = (migrations: Readonly<Record<string, string>>): boolean => {
  const own = ownMigrations()
  if (Object.keys(own).join() !== Object.keys(migrations).join()) return false
  return MODULE_EXTENSION !== '.ts' || Object.entries(own).every(([name, digest]) => migrations[name] === digest)
}

const Text = v.pipe(v.string(), v.parseJson(), Description)

const described = (folder: string): Description | null => {
  const [description, content] = [join(folder, DESCRIPTION), join(folder, CONTENT)]
  if (!existsSync(description) || !existsSync(content)) return null
  const read = v.safeParse(Text, readFileSync(description, 'utf8'))
  return read.success ? read.output : null
}

const unpack = (content: Buffer, entries: Description['entries'], to: string): void => {
  let at = 0
  for (const { path, bytes } of entries) {
    if (bytes === null) mkdirSync(join(to, path), { mode: 0o700 })
    else writeFileSync(join(to, path), content.subarray(at, (at += bytes)), { mode: 0o600 })
  }
}

/**
 * Fills `to`, the folder of the embedded database, from the template in `templates`. False: the folder exists, or no
 * template fits.
 */
export const filledFromTemplate = (to: string, templates = TEMPLATES): boolean => {
  if (existsSync(to)) return false
  const found = described(templates)
  if (found === null || found.database !== databaseRelease() || !isByOurMigrations(found.migrations)) return false
  const packed = readFileSync(join(templates, CONTENT))
  if (digestOf(packed, found.entries) !== found.digest) return false
  const unfinished = `${to}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true, mode: 0o700 })
  unpack(gunzipSync(packed, { maxOutputLength: CONTENT_MAX_BYTES }), found.entries, unfinished)
  renameSync(unfinished, to)
  return true
}

/** Makes the template of `database`, the folder of an embedded database that nobody has open. */
export const writeTemplate = (database: string, templates = TEMPLATES): void => {
  const found = readdirSync(database, { recursive: true, withFileTypes: true })
    .map((entry) => ({
      path: join(entry.parentPath, entry.name).slice(database.length + 1),
      folder: entry.isDirectory(),
    }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
  const files = found.map(({ path, folder }) => ({ path, content: folder ? null : readFileSync(join(database, path)) }))
  const packed = gzipSync(Buffer.concat(files.flatMap(({ content }) => content ?? [])), { level: 9 })
  const entries = files.map(({ path, content }) => ({ path, bytes: content?.length ?? null }))
  const description: Description = {
    database: databaseRelease(),
    migrations: { ...ownMigrations() },
    digest: digestOf(packed, entries),
    entries,
  }
  mkdirSync(templates, { recursive: true })
  writeFileSync(join(templates, CONTENT), packed)
  writeFileSync(join(templates, DESCRIPTION), JSON.stringify(description))
}
