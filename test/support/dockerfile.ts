/**
 * The steps of infra/Dockerfile, for tests on machines without a Docker engine: what a stage copies, and its commands
 * in a folder.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

export type Step =
  | { readonly type: 'COPY'; readonly from: string | null; readonly sources: readonly string[]; readonly to: string }
  | { readonly type: 'RUN'; readonly command: string }
export type Stage = { readonly name: string; readonly workdir: string; readonly steps: readonly Step[] }

const copyOf = (words: readonly string[]): Step => {
  const from = words[0]?.startsWith('--from=') ? words[0].slice('--from='.length) : null
  const paths = from === null ? words : words.slice(1)
  return { type: 'COPY', from, sources: paths.slice(0, -1), to: paths.at(-1)! }
}

/** The last stage, which becomes the image, has the name `image`. */
export const stagesOf = (text: string): readonly Stage[] =>
  text
    .split(/^FROM /m)
    .slice(1)
    .map((stage) => {
      const [, name = 'image'] = /^\S+ AS (\S+)/.exec(stage) ?? []
      const steps = [...stage.matchAll(/^(COPY|RUN) (.+)$/gm)].map(([, type, rest]): Step =>
        type === 'RUN' ? { type, command: rest! } : copyOf(rest!.split(' ')),
      )
      return { name, workdir: /^WORKDIR (\S+)/m.exec(stage)?.[1] ?? '/', steps }
    })

export const STAGES = stagesOf(readFileSync(join(ROOT, 'infra/Dockerfile'), 'utf8'))
export const stage = (name: string): Stage => {
  const found = STAGES.find((one) => one.name === name)
  if (found === undefined) throw new Error(`infra/Dockerfile has no stage ${name}`)
  return found
}

const IGNORE = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')

/**
 * Whether .dockerignore lets a file of the checkout through: the last line that covers it decides. It has `*`, paths,
 * and `!` before a path.
 */
export const isInContext = (path: string): boolean => {
  const covers = (pattern: string): boolean => pattern === '*' || path === pattern || path.startsWith(`${pattern}/`)
  const last = IGNORE.findLast((line) => covers(line.replace(/^!/, '')))
  return last === undefined || last.startsWith('!')
}
/** A folder is let through in part where one of its files is. */
const holdsSome = (path: string): boolean => isInContext(path) || IGNORE.some((line) => line.startsWith(`!${path}/`))

/** Carries out the steps of a stage in a folder, with the programs of this machine. Throws when a command fails. */
export const carryOut = ({ steps }: Stage, folder: string, env: NodeJS.ProcessEnv): void => {
  for (const step of steps) {
    if (step.type === 'COPY') {
      if (step.from !== null) throw new Error(`it copies from the stage ${step.from}`)
      for (const source of step.sources) {
        const to = step.to.endsWith('/') ? join(folder, step.to, source.split('/').at(-1)!) : join(folder, step.to)
        mkdirSync(join(to, '..'), { recursive: true })
        const filter = (path: string): boolean => holdsSome(relative(ROOT, path))
        cpSync(join(ROOT, source), to, { recursive: true, filter, preserveTimestamps: true })
      }
      continue
    }
    const { status, stdout, stderr } = spawnSync('sh', ['-c', step.command], { cwd: folder, env, encoding: 'utf8' })
    if (status !== 0) throw new Error(`${step.command}: ${status}\n${stdout}\n${stderr}`)
  }
}
