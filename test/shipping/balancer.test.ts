/**
 * infra/compose/haproxy.cfg: HAProxy takes it, and each frontend leads to a backend with every control of the compose
 * file.
 */
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type RequestListener, createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { BALANCER_FILE, openBalancer } from '../support/haproxy.ts'
import { describeWith } from '../support/needs.ts'
import { freePort } from '../support/port.ts'
import { tempFolder } from '../support/program.ts'

const text = readFileSync(BALANCER_FILE, 'utf8')
const compose = parse(readFileSync(join(import.meta.dirname, '../../infra/compose.yaml'), 'utf8'), { merge: true }) as {
  readonly services: Readonly<
    Record<string, { readonly ports?: readonly string[]; readonly environment?: Readonly<Record<string, string>> }>
  >
}
const folder = tempFolder('balancer-file')
afterAll(folder.remove)

type Section = { readonly name: string; readonly lines: readonly string[] }
const SECTIONS: readonly Section[] = text
  .split('\n')
  .filter((line) => !/^\s*(#|$)/.test(line))
  .reduce<Section[]>(
    (all, line) =>
      /^\S/.test(line)
        ? [...all, { name: line, lines: [] }]
        : [...all.slice(0, -1), { name: all.at(-1)!.name, lines: [...all.at(-1)!.lines, line.trim()] }],
    [],
  )
const ofKind = (kind: string) => SECTIONS.filter(({ name }) => name.startsWith(`${kind} `))

describeWith('haproxy', 'the file of the load balancer', (program) => {
  const checked = (file: string) => spawnSync(program, ['-c', '-f', file], { encoding: 'utf8', timeout: 30_000 })

  test('HAProxy takes it without a warning', () => {
    const { status, stderr } = checked(BALANCER_FILE)
    expect([status, stderr]).toEqual([0, expect.not.stringMatching(/WARNING|ALERT/)])
  })

  test('a mistake would be found', () => {
    const file = join(folder.path, 'haproxy.cfg')
    writeFileSync(file, text.replace('default_backend controls', 'default_frontend console'))
    expect(checked(file)).toMatchObject({ status: 1, stderr: expect.stringContaining('default_frontend') })
  })

  test('what a control has read and not answered is sent to another one only if it changes nothing', async () => {
    const net = `127.${randomInt(1, 255)}.${randomInt(256)}`
    const [got, ends]: readonly [string[], (() => unknown)[]] = [[], []]
    let dies = false
    const listen = async (port: number, host: string, answer: RequestListener) => {
      const server = createServer(answer).listen(port, host)
      await once(server, 'listening')
      ends.push(() => (server.closeAllConnections(), server.close()))
    }
    const addresses = new Map([1, 2].map((n) => [`control-${n}`, `${net}.${n}`]))
    for (const host of addresses.values()) {
      await listen(6671, host, (_, response) => response.end())
      await listen(6666, host, ({ method = '', socket }, response) => {
        got.push(method)
        // the first control that gets it ends
        if (dies && got.length === 1) socket.destroy()
        else response.end('well')
      })
    }
    const [api, ui] = [await freePort(), await freePort()]
    const balancer = await openBalancer(folder.path, { program, api, ui }, addresses)
    ends.push(balancer.end)
    const ask = async (method: string) => {
      got.length = 0
      const sent = fetch(`http://127.0.0.1:${api}/v2`, { method, signal: AbortSignal.timeout(20_000) })
      const isWell = await sent.then(
        ({ ok }) => ok,
        () => false,
      )
      return [isWell, ...got]
    }
    await expect.poll(() => ask('GET'), { timeout: 20_000 }).toEqual([true, 'GET'])
    dies = true
    expect(await ask('GET')).toEqual([true, 'GET', 'GET'])
    expect(await ask('POST')).toEqual([false, 'POST'])
    for (const end of ends.toReversed()) await end()
  })
})

describe('what the file of the load balancer says', () => {
  test('controls that authenticate nobody take no Host header but those of this machine', () => {
    const controls = Object.entries(compose.services).filter(([name]) => name.startsWith('control-'))
    expect(controls).not.toEqual([])
    for (const [, { environment }] of controls)
      expect(environment).toMatchObject({ ACCELERANDO_API_TRUSTED_HOSTS: 'localhost' })
  })
  test('each port that the compose file publishes leads to a backend of that port', () => {
    const published = compose.services['balancer']!.ports!.map((port) => port.split(':').at(-1)!)
    const led = ofKind('frontend').map(({ lines }) => {
      const [, port] = /^bind :(\d+)$/m.exec(lines.join('\n'))!
      const [, backend] = /^default_backend (\w+)$/m.exec(lines.join('\n'))!
      const { lines: servers } = ofKind('backend').find(({ name }) => name === `backend ${backend}`)!
      expect(servers.filter((line) => line.startsWith('server ')).map((line) => line.split(':')[1])).toEqual(
        CONTROLS.map(() => port),
      )
      return port
    })
    expect(led).toEqual(published)
  })

  const CONTROLS = Object.keys(compose.services).filter((name) => name.startsWith('control-'))
  test.each(ofKind('backend'))('$name has every control', ({ lines }) =>
    expect(lines.flatMap((line) => /^server (\S+) \1:/.exec(line)?.[1] ?? [])).toEqual(CONTROLS),
  )
})
