/** Where the files lie of which openstacksdk reads an entry of a `clouds.yaml`. */
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { codeOf, messageOf } from '../../vocabulary/errorText.ts'
import type { CloudFiles } from './clouds.ts'

type Read = (path: string) => string
type Env = Readonly<Record<string, string | undefined>>

const isAbsent = (error: unknown): boolean => codeOf(error) === 'ENOENT' || messageOf(error).startsWith('ENOENT')
/** The first of the files that is there; null: none is. Throws, with its name, when it cannot be read. */
const firstOf = (paths: readonly string[], read: Read): { readonly path: string; readonly text: string } | null => {
  for (const path of paths)
    try {
      return { path, text: read(path) }
    } catch (error) {
      if (!isAbsent(error)) throw new Error(`${path}: ${messageOf(error)}`, { cause: error })
    }
  return null
}
const SUFFIXES = ['yaml', 'yml', 'json']
const within = (folders: readonly string[], name: string): readonly string[] =>
  folders.flatMap((folder) => SUFFIXES.map((suffix) => join(folder, `${name}.${suffix}`)))

/** The files that stand beside the one that an option names. */
export const besideClouds = (path: string, read: Read): Omit<CloudFiles, 'clouds'> => ({
  secure: firstOf(within([dirname(path)], 'secure'), read)?.text ?? null,
  public: firstOf(within([dirname(path)], 'clouds-public'), read)?.text ?? null,
})

/** The folders in which the command line of OpenStack looks. */
const foldersOf = (env: Env): readonly string[] => [
  '.',
  join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'openstack'),
  join(homedir(), '.config/openstack'),
  '/etc/openstack',
]
/** The files of the user of a command, and the path of the first; throws with a text for the operator. */
export const usersClouds = (env: Env, read: Read): CloudFiles & { readonly path: string } => {
  const named = env['OS_CLIENT_CONFIG_FILE']
  const folders = [...new Set(foldersOf(env))]
  const found = firstOf(named ? [named] : within(folders, 'clouds'), read)
  if (found === null) {
    const places = named ?? folders.map((folder) => join(folder, 'clouds.yaml')).join(', ')
    throw new Error(`none of ${places} can be read`)
  }
  const secure = env['OS_CLIENT_SECURE_FILE']
  return {
    path: found.path,
    clouds: found.text,
    secure: firstOf([...(secure ? [secure] : []), ...within(folders, 'secure')], read)?.text ?? null,
    public: firstOf(within(folders, 'clouds-public'), read)?.text ?? null,
  }
}
