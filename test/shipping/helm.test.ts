/** The chart of infra/helm: rendered by Helm, and every object checked against the schemas of Kubernetes. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { describeWith } from '../support/needs.ts'

const ROOT = join(import.meta.dirname, '../..')
const RIG = join(ROOT, 'infra/rig/helm')
const INSTALL_MS = 300_000
type Kubernetes = {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly data?: unknown
  // The objects of Kubernetes were checked against their schemas before.
  // oxlint-disable-next-line typescript/no-explicit-any -- a document of some dozen kinds
  readonly spec: any
}

/** A folder beside the other parts that tests have installed; it is complete, or not there. */
const installed = (): string => {
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'accelerando')
  const home = join(cache, 'helm-1')
  const run = (program: string, ...args: readonly string[]) => {
    const { status, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: INSTALL_MS })
    if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr.slice(-1000)}`)
  }
  if (!existsSync(home)) {
    const making = `${home}.${process.pid}`
    mkdirSync(cache, { recursive: true })
    run('python3', '-m', 'pip', 'install', '-q', '--target', making, '-r', join(RIG, 'requirements.txt'))
    if (existsSync(home)) rmSync(making, { recursive: true })
    else renameSync(making, home)
  }
  return home
}

describeWith('pip', 'the Helm chart', () => {
  let home: string
  beforeAll(() => {
    home = installed()
  }, INSTALL_MS)

  const render = (values: unknown) => {
    const { status, stdout, stderr } = spawnSync(
      'python3',
      [join(RIG, 'render.py'), join(ROOT, 'infra/helm/accelerando')],
      { encoding: 'utf8', input: JSON.stringify(values), env: { ...process.env, PYTHONPATH: home }, timeout: 60_000 },
    )
    return status === 0 ? (JSON.parse(stdout) as readonly Kubernetes[]) : stderr.trim()
  }
  const objects = (values: unknown): readonly Kubernetes[] => {
    const all = render(values)
    if (typeof all === 'string') throw new Error(all)
    return all
  }
  const one = (values: unknown, kind: string): Kubernetes => objects(values).find((each) => each.kind === kind)!

  test('with its own values it makes controls that are probed, spread and protected', () => {
    expect(objects({}).map(({ kind }) => kind)).toEqual([
      'ConfigMap',
      'Deployment',
      'Service',
      'PodDisruptionBudget',
      'NetworkPolicy',
    ])
    const { template } = one({}, 'Deployment').spec
    const [container] = template.spec.containers
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
      expect(container[probe].httpGet).toMatchObject({ port: 'admin' })
    expect(template.spec.securityContext).toMatchObject({ runAsNonRoot: true })
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } })
  })

  test('secrets are references, and no object holds one', () => {
    const values = { secrets: { ACCELERANDO_KAFKA_SASL_PASSWORD: { name: 'vault', key: 'kafka' } } }
    const [container] = one(values, 'Deployment').spec.template.spec.containers
    expect(container.env).toContainEqual({
      name: 'ACCELERANDO_KAFKA_SASL_PASSWORD',
      valueFrom: { secretKeyRef: { name: 'vault', key: 'kafka' } },
    })
    expect(objects(values).map(({ kind }) => kind)).not.toContain('Secret')
  })

  test('where it is wanted, a Job changes the tables as their owner before anything else, and gives the controls their rights', () => {
    const values = { migration: { enabled: true, owner: { name: 'owner', key: 'url' }, grantTo: 'accelerando' } }
    const job = one(values, 'Job')
    expect(job.metadata).toMatchObject({ annotations: { 'helm.sh/hook': 'pre-install,pre-upgrade' } })
    const { restartPolicy, containers } = job.spec.template.spec
    expect([restartPolicy, containers[0].args]).toEqual(['Never', ['migrate', '--grant-to', 'accelerando']])
    const owner = { name: 'ACCELERANDO_DATABASE', valueFrom: { secretKeyRef: { name: 'owner', key: 'url' } } }
    expect(containers[0].env).toContainEqual(owner)
    const [control] = one(values, 'Deployment').spec.template.spec.containers
    expect(control.env).not.toContainEqual(owner)
  })

  test('metrics are closed to everybody until it is said who reads them', () => {
    const ports = (values: unknown) =>
      one(values, 'NetworkPolicy').spec.ingress.flatMap((rule: { ports: { port: string }[] }) =>
        rule.ports.map(({ port }) => port),
      )
    expect(ports({})).toEqual(['api', 'console'])
    expect(ports({ networkPolicy: { monitoring: [{ namespaceSelector: {} }] } })).toEqual(['api', 'console', 'admin'])
  })

  test('of hosts as well, unless they are in the network of their node', () => {
    const policyOf = (values: object) =>
      objects({ host: { enabled: true, hostNetwork: false, ...values }, networkPolicy: { monitoring: [] } }).find(
        ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name.endsWith('-host'),
      )
    expect(policyOf({})!.spec).toMatchObject({ policyTypes: ['Ingress'] })
    expect(policyOf({})!.spec.ingress ?? []).toEqual([])
    expect(policyOf({ hostNetwork: true })).toBeUndefined()
  })

  test('hosts run where they are wanted, under the name of their node and without the password of the database', () => {
    const [container] = one({ host: { enabled: true } }, 'DaemonSet').spec.template.spec.containers
    const names = container.env.map(({ name }: { name: string }) => name)
    expect(names).toContain('ACCELERANDO_HOST_NAME')
    expect(names).not.toContain('ACCELERANDO_DATABASE')
  })

  const vault = (key: string) => ({ name: 'vault', key })
  const ca = {
    extraVolumes: [{ name: 'ca', secret: { secretName: 'cloud-ca' } }],
    extraVolumeMounts: [{ name: 'ca', mountPath: '/etc/cloud-ca', readOnly: true }],
  }

  test('hosts get no secret and no line of configuration of the controls', () => {
    const values = {
      config: 'auth = "keystone"',
      secrets: {
        ACCELERANDO_DATABASE: vault('database'),
        ACCELERANDO_KEYSTONE_AUTHTOKEN_PASSWORD: vault('keystone'),
        ACCELERANDO_KAFKA_SASL_PASSWORD: vault('kafka'),
      },
      host: { enabled: true },
    }
    const hosts = one(values, 'DaemonSet')
    expect(JSON.stringify(one(values, 'Deployment'))).toContain('vault')
    expect(JSON.stringify(hosts)).not.toMatch(/vault|PASSWORD|secretKeyRef/)
    const [config] = hosts.spec.template.spec.volumes
    const maps = objects(values).filter(({ kind }) => kind === 'ConfigMap')
    expect(maps.map(({ metadata, data }) => [metadata.name, /keystone/.test(JSON.stringify(data))])).toEqual([
      ['cloud', true],
      [config.configMap.name, false],
    ])
  })

  test('hosts have a configuration and secrets of their own, which the controls do not get', () => {
    const values = {
      host: { enabled: true, config: 'name = "own"', secrets: { ACCELERANDO_KAFKA_SASL_PASSWORD: vault('of-hosts') } },
    }
    const [container] = one(values, 'DaemonSet').spec.template.spec.containers
    expect(container.env).toContainEqual({
      name: 'ACCELERANDO_KAFKA_SASL_PASSWORD',
      valueFrom: { secretKeyRef: vault('of-hosts') },
    })
    expect(JSON.stringify(one(values, 'Deployment'))).not.toContain('vault')
    const own = objects(values).find(({ metadata }) => metadata.name === 'cloud-host')
    expect(own?.data).toEqual({ 'accelerando.toml': 'name = "own"\n' })
  })

  test.each([
    ['control', 'Deployment'],
    ['host', 'DaemonSet'],
    ['migration', 'Job'],
  ])('%s: files that its configuration names can be mounted, as the certificates of a CA', (part, kind) => {
    const { volumes, containers } = one({ [part]: { ...(part !== 'control' && { enabled: true }), ...ca } }, kind).spec
      .template.spec
    expect(volumes).toContainEqual(ca.extraVolumes[0])
    expect(containers[0].volumeMounts).toContainEqual(ca.extraVolumeMounts[0])
  })

  test('the host program gets the network of its node only when told so', () => {
    const podOf = (host: object) => one({ host: { enabled: true, ...host } }, 'DaemonSet').spec.template.spec
    expect(podOf({})).not.toHaveProperty('hostNetwork')
    expect(podOf({ hostNetwork: true })).toMatchObject({ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' })
  })

  test.each([
    [{ replicas: 3 }, /replicas/],
    [{ control: { replicas: 0 } }, /minimum/],
    [{ secrets: { password: { name: 'a', key: 'b' } } }, /password/],
    [{ kafka: { brokers: ['kafka'] } }, /brokers/],
    [{ migration: { enabled: true, owner: { name: '' } } }, /owner/],
    [{ host: { secrets: { ACCELERANDO_DATABASE: { name: 'a', key: 'b' } } } }, /ACCELERANDO_DATABASE/],
    [{ control: { extraVolumes: [{ name: 'config' }] } }, /extraVolumes/],
    [{ host: { extraVolumeMounts: [{ name: 'ca', mountPath: '/etc/accelerando/ca' }] } }, /mountPath/],
  ])('%j is refused', (values, reason) => expect(render(values)).toMatch(reason))

  test('an image that is named by its digest is that one in every object, whatever tag is named', () => {
    const digest = `sha256:${'0a'.repeat(32)}`
    const all = objects({ image: { tag: 'latest', digest }, host: { enabled: true }, migration: { enabled: true } })
    const images = all.flatMap(({ spec }) => spec?.template?.spec?.containers ?? []).map(({ image }) => image)
    expect([images.length, new Set(images)]).toEqual([3, new Set([`accelerando@${digest}`])])
    expect(render({ image: { digest: 'latest' } })).toMatch(/digest/)
  })
  test('its version is that of the program', () =>
    expect(one({}, 'Deployment').spec.template.spec.containers[0].image).toBe(`accelerando:${manifest.version}`))
})
