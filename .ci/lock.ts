/**
 * Completes the lockfiles with packages made for other platforms: `npm run lock`, after each `npm install`.
 *
 * npm leaves an optional package out of the lockfile when the registry it asks does not hold it, and then refuses that
 * lockfile in `npm ci`, here and everywhere. Such packages carry their platform in their name and their version in the
 * package that wants them, so the entries can be written without asking anyone. They have no checksum until somebody
 * on that platform runs `npm install`.
 *
 * It also takes out which Node each package asks for: the program runs on the Node that comes with its packages, and
 * `npm ci` on an older one would print a warning for each of them. What this project asks for stays.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

type Entry = {
  readonly version?: string
  readonly engines?: unknown
  readonly dev?: boolean
  readonly optional?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}
export type Lock = { readonly packages: Readonly<Record<string, Entry>> }

const OS = ['darwin', 'linux', 'win32', 'android', 'freebsd', 'openharmony']
const CPU = ['arm', 'arm64', 'x64', 'ia32', 'ppc64', 'riscv64', 's390x', 'loong64', 'wasm32']
const LIBC: Readonly<Record<string, string>> = {
  gnu: 'glibc',
  gnueabihf: 'glibc',
  glibc: 'glibc',
  musl: 'musl',
  musleabihf: 'musl',
}

/** What a name like `@oxlint/binding-linux-x64-musl` says. */
const platform = (name: string) => {
  const words = name.replace('windows', 'win32').split(/[/-]/)
  const libc = words.flatMap((word) => LIBC[word] ?? [])
  const said = { cpu: words.filter((word) => CPU.includes(word)), libc, os: words.filter((word) => OS.includes(word)) }
  return Object.fromEntries(Object.entries(said).filter(([, values]) => values.length > 0))
}

/** The folders in which Node looks for what `place` imports, `node_modules/` left off. */
const lookups = (place: string): readonly string[] =>
  place === '' ? [''] : [`${place}/`, ...lookups(place.slice(0, Math.max(0, place.lastIndexOf('node_modules/') - 1)))]

/** What somebody may want and the lockfile does not name: `npm ci` would refuse it. */
export const missing = ({ packages }: Lock) =>
  Object.entries(packages).flatMap(([place, { dev = false, optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !lookups(place).some((at) => `${at}node_modules/${name}` in packages))
      .map(([name, range]) => ({ name, version: range.replace(/^[\^~]/, ''), dev })),
  )

/** The first entry is the project itself. */
const withoutEngines = ([place, entry]: readonly [string, Entry]): readonly [string, Entry] => {
  const { engines: _, ...rest } = entry
  return [place, place === '' ? entry : rest]
}

export const complete = (lock: Lock): Lock => {
  const added = missing(lock).map(({ name, version, dev }) => {
    const facts = { ...platform(name), ...(dev && { dev }), optional: true }
    // npm's own order: the version, then the rest by name.
    const inOrder = Object.entries(facts).toSorted(([a], [b]) => a.localeCompare(b, 'en'))
    return [`node_modules/${name}`, { version, ...Object.fromEntries(inOrder) }]
  })
  const packages = Object.entries<Entry>({ ...lock.packages, ...Object.fromEntries(added) }).map(withoutEngines)
  return { ...lock, packages: Object.fromEntries(packages.toSorted(([a], [b]) => a.localeCompare(b, 'en'))) }
}

/** That of the program, and that of the package which builds the documents. */
export const LOCKFILES = ['package-lock.json', 'site/package-lock.json']

if (import.meta.main) {
  for (const name of LOCKFILES) {
    const path = fileURLToPath(new URL(`../${name}`, import.meta.url))
    const lock = JSON.parse(readFileSync(path, 'utf8')) as Lock
    writeFileSync(path, `${JSON.stringify(complete(lock), null, 2)}\n`)
    process.stdout.write(`${name}: packages of other platforms added: ${missing(lock).length}\n`)
  }
}
