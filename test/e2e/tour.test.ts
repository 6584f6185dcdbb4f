/** `start --demo --tour`: the main job as Nova does it, and the program's own account of it. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { embeddedStoreIn, embeddedStoreMade } from '../support/embedded.ts'
import { portThatFetchRefuses } from '../support/port.ts'
import { runProgram, tempFolder } from '../support/program.ts'

const folder = tempFolder('tour')
beforeAll(embeddedStoreMade)
afterAll(folder.remove)

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const MS = String.raw`\(\d+\.\d ms\)`
const HANDLE = String.raw`acc\d:00:00\.\d`
const NAME = 'tour-[0-9a-f]{8}'
/** Every line of standard output, in order. */
const STEPS = [
  String.raw` 1\. a device is found            sim-1_${HANDLE} \(FPGA\)  ${MS}`,
  String.raw` 2\. a device profile is made     ${NAME}  ${MS}`,
  String.raw` 3\. Nova asks for an ARQ         ${UUID}  ${MS}`,
  String.raw` 4\. Nova binds it                instance ${UUID} on sim-1: 202  ${MS}`,
  String.raw` 5\. Nova hears how it ended      accelerator-request-bound completed, tag ${UUID}  ${MS}`,
  String.raw` 6\. Nova reads it                Bound, PCI ${HANDLE}  ${MS}`,
  String.raw`    What happened to it:`,
  String.raw` {17}created {18}service {8}profile=${NAME} group=0`,
  String.raw` +\+\d+ ms  bind accepted {12}service {8}hostname=sim-1 host=sim-1 order=\d+ deadline=\S+Z`,
  String.raw` +\+\d+ ms  prepared on the host {5}host sim-1`,
  String.raw` +\+\d+ ms  bound {20}host sim-1 {5}host_work_ms=\d+`,
  String.raw` +\+\d+ ms  nova to be told {10}host sim-1 {5}status=completed until=\S+Z`,
  String.raw` +\+\d+ ms  nova told: delivered {5}nova notifier`,
  String.raw` 7\. Nova unbinds it              Unbound, the handle goes back  ${MS}`,
  String.raw` 8\. Nova deletes it              204, none left for the instance  ${MS}`,
  String.raw` 9\. the profile is removed       ${NAME}  ${MS}`,
  String.raw`    Its page, whenever the service runs on this data: http://127\.0\.0\.1:\d+/ui/arqs/${UUID}`,
  String.raw`tour: every step did what Nova expects, \d+ ms`,
]

test(
  'a tour shows its nine steps, the timeline and the result, and logs only warnings',
  { timeout: 90_000 },
  async () => {
    await embeddedStoreIn(join(folder.path, 'data/store'))
    const args = ['start', '--demo', '--tour', '--data', join(folder.path, 'data')]
    // the default port is one that `fetch` refuses
    const listen = `127.0.0.1:${await portThatFetchRefuses()}`
    const tour = runProgram({
      args: [...args, '--listen', listen, '--admin-listen', '127.0.0.1:0', '--ui-listen', '127.0.0.1:0'],
      env: { ACCELERANDO_PCI_SYSFS_ROOT: join(folder.path, 'no-sysfs') },
    })
    const { code } = await tour.exited
    expect(code, tour.stdout() + tour.stderr()).toBe(0)
    expect(tour.stdout().split('\n')).toEqual([
      ...STEPS.map((line): unknown => expect.stringMatching(new RegExp(`^${line}$`))),
      '',
    ])
    // one line, on any machine: here there is no PCI bus
    expect(tour.logged()).toEqual([expect.objectContaining({ level: 40, msg: 'pci_whitelist_empty' })])
    expect(tour.stderr().trimEnd().split('\n')).toHaveLength(1)
  },
)
