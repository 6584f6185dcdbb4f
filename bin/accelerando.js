#!/usr/bin/env node
// Runs the program on a Node that strips types, whichever Node was called: plain JavaScript, good for Node 20.
// Where a second process is needed, it may not outlive the first: see parent.js.
import { existsSync } from 'node:fs'
import * as module from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { followParent } from './parent.js'
import { runChild } from './child.js'

const WANTED = [24, 11]
const self = fileURLToPath(import.meta.url)
const root = dirname(dirname(self))
/** A checkout runs its sources as they are. The npm package holds them without types, since Node strips none there. */
const packed = (module) => import(`../dist/${module}.js`)
const program = existsSync(join(root, 'src'))
  ? { main: () => import('../src/cli/main.ts'), garbage: () => import('../src/cli/garbage.ts') }
  : { main: () => packed('cli/main'), garbage: () => packed('cli/garbage') }

const isNewEnough = () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return major > WANTED[0] || (major === WANTED[0] && minor >= WANTED[1])
}

/** The Node that came with the packages. */
const packagedNode = () => {
  try {
    const home = dirname(module.createRequire(import.meta.url).resolve('node/package.json'))
    return [join(home, 'bin', 'node'), join(home, 'bin', 'node.exe')].find((path) => existsSync(path))
  } catch {
    return undefined
  }
}

const startOn = (node) => {
  const args = [self, ...process.argv.slice(2)]
  // Replaces this process, so that there is no second one; Node has it since 22.15, not on Windows.
  if (typeof process.execve === 'function' && process.platform !== 'win32') process.execve(node, [node, ...args])
  runChild(node, args)
}

/** What was compiled is kept beside the packages, for a quicker start; only who installed them may write there. */
const keepCompiled = () => {
  const own = join(root, 'node_modules')
  const packages = existsSync(own) || basename(dirname(root)) !== 'node_modules' ? own : dirname(root)
  if (existsSync(packages)) module.enableCompileCache?.(join(packages, '.cache', 'accelerando'))
}

/** A host program must not take the memory of guests. The flags count only for what is loaded after them. */
const keepSmall = async () => {
  if (process.argv[2] !== 'host' || 'Deno' in globalThis) return
  const { keepGarbageSmall } = await program.garbage()
  keepGarbageSmall()
}

followParent()
if (isNewEnough() || 'Deno' in globalThis) {
  keepCompiled()
  await keepSmall()
  await program.main()
} else {
  const node = packagedNode()
  if (node === undefined) {
    process.stderr.write(
      `accelerando needs Node ${WANTED.join('.')} or newer; this is ${process.versions.node}, and the package "node" that brings it is not installed\n`,
    )
    process.exitCode = 1
  } else startOn(node)
}
