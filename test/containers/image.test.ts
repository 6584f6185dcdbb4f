/**
 * The image of infra/Dockerfile: what it is made of, and that it serves without rights and without a place to write but
 * its own.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers'
import { IMAGE, buildImage } from '../support/containers.ts'
import { describeWith } from '../support/needs.ts'

const BUILD_MS = 600_000

describeWith('docker', 'the image', () => {
  let service: StartedTestContainer
  beforeAll(async () => {
    await buildImage()
    service = await new GenericContainer(IMAGE)
      .withCommand(['start', '--demo', '--noauth-anywhere'])
      .withEnvironment({ ACCELERANDO_LISTEN: '0.0.0.0:6666', ACCELERANDO_ADMIN_LISTEN: '0.0.0.0:6671' })
      .withEnvironment({ ACCELERANDO_UI_LISTEN: '0.0.0.0:6670' })
      .withExposedPorts(6666, 6670, 6671)
      .withTmpFs({ '/tmp': 'rw' })
      .withDroppedCapabilities('ALL')
      .withSecurityOpt('no-new-privileges')
      .withWaitStrategy(Wait.forHealthCheck())
      .withStartupTimeout(120_000)
      .start()
  }, BUILD_MS)
  afterAll(async () => service?.stop())

  const at = (port: number, path: string) => fetch(`http://${service.getHost()}:${service.getMappedPort(port)}${path}`)

  test('it serves the API and the metrics', async () => {
    const devices = (await (await at(6666, '/v2/devices')).json()) as { devices: unknown[] }
    expect(devices.devices.length).toBeGreaterThan(0)
    expect(await (await at(6671, '/metrics')).text()).toContain('accelerando_')
  })

  test('its console serves the documents', async () => {
    const page = await at(6670, '/docs/operators/cleaning.html')
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('Cleaning devices')
  })

  test('it runs as a user of no rights, and owns nothing of its program', async () => {
    const { output } = await service.exec(['sh', '-c', 'id -u; touch /app/x 2>&1; touch /app/src/x 2>&1; echo end'])
    const [uid, ...refused] = output.trim().split('\n')
    expect(Number(uid)).toBeGreaterThan(0)
    expect(refused.slice(0, 2).every((line) => /denied|Read-only/.test(line))).toBe(true)
  })

  test('nothing that only development needs is in it', async () => {
    const { output } = await service.exec(['ls', '/app', '/app/node_modules'])
    expect(output).not.toMatch(/vitest|typescript|oxlint|\btest\b/)
  })
})
