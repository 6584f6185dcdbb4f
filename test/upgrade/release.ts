/** The program as another commit has it, beside today's: its files in a folder of their own. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inOrder } from '../golden/releases.ts'
import type { Found, Part } from '../support/needs.ts'
import { tempFolder } from '../support/program.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const INSTALL_MS = 120_000
const ARCHIVE_MAX_BYTES = 256 * 1024 * 1024
/** Names the commit to upgrade from, instead of a release. */
const FROM = 'UPGRADE_FROM'
const CONTROL = 'src/cli/commands/control.ts'

/** A checkout of another user's, as in a container. */
const TRUSTED = ['-c', `safe.directory=${ROOT.replace(/\/$/, '')}`]
const has = (commit: string, path = ''): boolean => {
  const object = path === '' ? `${commit}^{commit}` : `${commit}:${path}`
  return spawnSync('git', [...TRUSTED, 'cat-file', '-e', object], { cwd: ROOT }).status === 0
}

/** `at`: the commit. Under `CI=true` a checkout without the history it needs fails. */
const commitPart = (name: string, commit: string): Part => ({
  name,
  installable: true,
  find: () => (has(commit) ? { at: commit } : { lacking: `this checkout has no commit ${commit}: fetch its history` }),
})

/** The newest release that has controls, unless the environment names a commit. */
export const lastWithControls = (): Part => {
  const named = process.env[FROM]
  if (named !== undefined) return commitPart(`the commit of ${FROM}`, named)
  const known = inOrder().toReversed()
  const fitting = known.find(([, { commit }]) => has(commit, CONTROL))
  if (fitting !== undefined) return commitPart(`release ${fitting[0]}`, fitting[1].commit)
  const lacking = `none of ${known.map(([release]) => release).join(', ')} has a control program; ${FROM}=COMMIT names another`
  const find = (): Found => ({ lacking })
  return { name: 'a release of several processes', installable: false, find }
}

type Manifest = { readonly version: string; readonly dependencies?: Readonly<Record<string, string>> }
const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

const isHere = ([name, version]: readonly [string, string]): boolean => {
  const installed = join(ROOT, 'node_modules', name)
  return existsSync(installed) && manifestIn(installed).version === version
}
const INSTALL = ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund']
/** Those of this checkout while they are the same; its own when they are not. */
const givePackages = (folder: string, { dependencies = {} }: Manifest): void => {
  if (Object.entries(dependencies).every(isHere))
    return symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir')
  execFileSync('npm', INSTALL, { cwd: folder, stdio: 'pipe', timeout: INSTALL_MS })
}

export type Tree = {
  readonly folder: string
  readonly launcher: string
  readonly version: string
  readonly remove: () => void
}
/**
 * `git worktree` would leave its mark in the repository of whoever kills the test; an archive of the commit has the
 * same files.
 */
export const treeOf = (commit: string): Tree => {
  const { path, remove } = tempFolder('release')
  const folder = join(path, 'accelerando')
  mkdirSync(folder)
  try {
    const archive = execFileSync('git', [...TRUSTED, 'archive', commit], {
      cwd: ROOT,
      maxBuffer: ARCHIVE_MAX_BYTES,
    })
    execFileSync('tar', ['-x', '-C', folder], { input: archive })
    const manifest = manifestIn(folder)
    givePackages(folder, manifest)
    return { folder, launcher: join(folder, 'bin', 'accelerando.js'), version: manifest.version, remove }
  } catch (error) {
    remove()
    throw error
  }
}
