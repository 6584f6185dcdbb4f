/**
 * Builds the site of the documents into `documents/`: `npm run docs`. Installs the packages of `site/` first where they
 * are not those of its lockfile.
 */
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'

const SITE = join(import.meta.dirname, '../../site')
const changedMs = (path: string): number => statSync(join(SITE, path), { throwIfNoEntry: false })?.mtimeMs ?? 0

const run = (program: string, args: readonly string[]): void => {
  const { status } = spawnSync(program, args, { cwd: SITE, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

if (changedMs('node_modules/.package-lock.json') < changedMs('package-lock.json'))
  run('npm', ['ci', '--no-audit', '--no-fund'])
run(process.execPath, ['node_modules/vitepress/bin/vitepress.js', 'build', '.'])
