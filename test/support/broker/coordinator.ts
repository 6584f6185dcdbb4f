/** Consumer groups of the classic protocol: members, leader, assignments and committed offsets. */
import type { RequestOf, ResponseOf } from './protocol.ts'
import { ERRORS } from './protocol.ts'

type Seat = {
  readonly member: string
  readonly clientId: string
  readonly sessionMs: number
  protocols: RequestOf<'JoinGroup'>['protocols']
  assignment: Buffer
  join: ((answer: ResponseOf<'JoinGroup'>) => void) | null
  sync: ((answer: ResponseOf<'SyncGroup'>) => void) | null
  expiry: NodeJS.Timeout | null
}
type State = 'Empty' | 'PreparingRebalance' | 'CompletingRebalance' | 'Stable'
type Committed = { readonly offset: number; readonly note: string | null }
type Group = {
  readonly name: string
  readonly seats: Map<string, Seat>
  readonly committed: Map<string, Committed>
  state: State
  generation: number
  protocol: string
}
const NOTHING = Buffer.alloc(0)
const NO_JOIN = { throttleMs: 0, generation: -1, protocol: '', leader: '', members: [] }

export class Coordinator {
  readonly #groups = new Map<string, Group>()
  #made = 0

  get names(): readonly string[] {
    return [...this.#groups.keys()]
  }
  members(group: string): readonly string[] {
    return [...(this.#groups.get(group)?.seats.keys() ?? [])]
  }
  committed(group: string, topic: string, partition: number): Committed {
    return this.#groups.get(group)?.committed.get(`${topic}/${partition}`) ?? { offset: -1, note: null }
  }
  /** Sets a committed offset. */
  commit(group: string, topic: string, partition: number, offset: number): void {
    this.#group(group).committed.set(`${topic}/${partition}`, { offset, note: null })
  }
  /** Removes the member, as after a session time-out. */
  expel(group: string, member: string): void {
    const found = this.#groups.get(group)
    if (found !== undefined) this.#remove(found, member)
  }
  /** Starts a rebalance. */
  rebalance(group: string): void {
    this.#unsettle(this.#group(group))
  }
  close(): void {
    for (const { seats } of this.#groups.values())
      for (const { expiry } of seats.values()) if (expiry !== null) clearTimeout(expiry)
  }

  join(request: RequestOf<'JoinGroup'>, clientId: string): Promise<ResponseOf<'JoinGroup'>> {
    const group = this.#group(request.group)
    const known = group.seats.get(request.member)
    if (request.member !== '' && known === undefined)
      return Promise.resolve({ ...NO_JOIN, errorCode: ERRORS.UNKNOWN_MEMBER_ID, member: request.member })
    if (!this.#fits(group, request))
      return Promise.resolve({ ...NO_JOIN, errorCode: ERRORS.INCONSISTENT_GROUP_PROTOCOL, member: request.member })
    const member = known?.member ?? `${clientId}-${++this.#made}`
    const { promise, resolve } = Promise.withResolvers<ResponseOf<'JoinGroup'>>()
    const { sessionMs, protocols } = request
    const seat = known ?? {
      member,
      clientId,
      sessionMs,
      protocols,
      assignment: NOTHING,
      join: null,
      sync: null,
      expiry: null,
    }
    Object.assign(seat, { protocols, join: resolve })
    group.seats.set(member, seat)
    this.#alive(group, seat)
    this.#unsettle(group)
    this.#gather(group)
    return promise
  }
  #fits(group: Group, { member, protocols }: RequestOf<'JoinGroup'>): boolean {
    const others = [...group.seats.values()].filter((seat) => seat.member !== member)
    return protocols.some(({ name }) => others.every((seat) => seat.protocols.some((each) => each.name === name)))
  }
  #unsettle(group: Group): void {
    group.state = 'PreparingRebalance'
    for (const seat of group.seats.values()) {
      seat.sync?.({ throttleMs: 0, errorCode: ERRORS.REBALANCE_IN_PROGRESS, assignment: NOTHING })
      seat.sync = null
    }
  }
  /** The rebalance completes when all members have rejoined. */
  #gather(group: Group): void {
    const seats = [...group.seats.values()]
    if (group.state !== 'PreparingRebalance' || seats.some(({ join }) => join === null)) return
    const [first] = seats
    if (first === undefined) return void (group.state = 'Empty')
    const shared = first.protocols.find(({ name }) =>
      seats.every(({ protocols }) => protocols.some((each) => each.name === name)),
    )
    Object.assign(group, { state: 'CompletingRebalance', generation: group.generation + 1, protocol: shared!.name })
    const { generation, protocol } = group
    const listed = seats.map(({ member, protocols }) => ({
      member,
      metadata: protocols.find(({ name }) => name === protocol)!.metadata,
    }))
    for (const seat of seats) {
      const { member } = seat
      const members = seat === first ? listed : []
      seat.join!({ throttleMs: 0, errorCode: 0, generation, protocol, leader: first.member, member, members })
      seat.join = null
    }
  }

  sync({ group: name, generation, member, assignments }: RequestOf<'SyncGroup'>): Promise<ResponseOf<'SyncGroup'>> {
    const group = this.#peek(name)
    const seat = group.seats.get(member)
    const errorCode = this.#trouble(group, member, generation)
    if (seat === undefined || errorCode !== 0) return Promise.resolve({ throttleMs: 0, errorCode, assignment: NOTHING })
    const { promise, resolve } = Promise.withResolvers<ResponseOf<'SyncGroup'>>()
    this.#alive(group, seat)
    seat.sync = resolve
    for (const each of assignments) group.seats.get(each.member)!.assignment = each.assignment
    if (assignments.length > 0) group.state = 'Stable'
    if (group.state === 'Stable') this.#assign(group)
    return promise
  }
  #assign(group: Group): void {
    for (const seat of group.seats.values()) {
      seat.sync?.({ throttleMs: 0, errorCode: 0, assignment: seat.assignment })
      seat.sync = null
    }
  }
  heartbeat({ group: name, generation, member }: RequestOf<'Heartbeat'>): ResponseOf<'Heartbeat'> {
    const group = this.#peek(name)
    const seat = group.seats.get(member)
    if (seat !== undefined) this.#alive(group, seat)
    return { throttleMs: 0, errorCode: this.#trouble(group, member, generation) }
  }
  leave({ group: name, member }: RequestOf<'LeaveGroup'>): ResponseOf<'LeaveGroup'> {
    const known = this.#remove(this.#peek(name), member)
    return { throttleMs: 0, errorCode: known ? 0 : ERRORS.UNKNOWN_MEMBER_ID }
  }
  #remove(group: Group, member: string): boolean {
    const seat = group.seats.get(member)
    if (seat === undefined) return false
    if (seat.expiry !== null) clearTimeout(seat.expiry)
    group.seats.delete(member)
    this.#unsettle(group)
    this.#gather(group)
    return true
  }
  #alive(group: Group, seat: Seat): void {
    if (seat.expiry !== null) clearTimeout(seat.expiry)
    seat.expiry = setTimeout(() => this.#remove(group, seat.member), seat.sessionMs).unref()
  }
  #trouble(group: Group, member: string, generation: number): number {
    if (!group.seats.has(member)) return ERRORS.UNKNOWN_MEMBER_ID
    if (group.state === 'PreparingRebalance') return ERRORS.REBALANCE_IN_PROGRESS
    return generation === group.generation ? ERRORS.NONE : ERRORS.ILLEGAL_GENERATION
  }

  commits({ group: name, generation, member, topics }: RequestOf<'OffsetCommit'>): ResponseOf<'OffsetCommit'> {
    const group = this.#group(name)
    const trouble = member === '' && group.seats.size === 0 ? 0 : this.#trouble(group, member, generation)
    // commits of the previous generation are accepted while a rebalance is being prepared
    const errorCode = trouble === ERRORS.REBALANCE_IN_PROGRESS ? 0 : trouble
    for (const { topic, partitions } of errorCode === 0 ? topics : [])
      for (const { partition, offset, note } of partitions)
        group.committed.set(`${topic}/${partition}`, { offset, note })
    const rows = topics.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map(({ partition }) => ({ partition, errorCode })),
    }))
    return { throttleMs: 0, topics: rows }
  }
  offsets({ group, topics }: RequestOf<'OffsetFetch'>): ResponseOf<'OffsetFetch'> {
    const rows = (topics ?? []).map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map((partition) => ({
        partition,
        errorCode: 0,
        ...this.committed(group, topic, partition),
      })),
    }))
    return { throttleMs: 0, topics: rows, errorCode: 0 }
  }

  describe({ groups }: RequestOf<'DescribeGroups'>): ResponseOf<'DescribeGroups'> {
    const rows = groups.map((name) => {
      const { state, protocol, seats } = this.#groups.get(name) ?? { state: 'Dead', protocol: '', seats: new Map() }
      const members = [...(seats as Map<string, Seat>).values()].map(({ member, clientId, assignment }) => ({
        member,
        clientId,
        host: '/127.0.0.1',
        metadata: NOTHING,
        assignment,
      }))
      return { errorCode: 0, group: name, state, kind: 'consumer', protocol, members }
    })
    return { throttleMs: 0, groups: rows }
  }
  list(): ResponseOf<'ListGroups'> {
    return { throttleMs: 0, errorCode: 0, groups: this.names.map((group) => ({ group, kind: 'consumer' })) }
  }
  delete({ groups }: RequestOf<'DeleteGroups'>): ResponseOf<'DeleteGroups'> {
    const remove = (name: string): number => {
      const group = this.#groups.get(name)
      if (group === undefined) return ERRORS.GROUP_ID_NOT_FOUND
      if (group.seats.size > 0) return ERRORS.NON_EMPTY_GROUP
      this.#groups.delete(name)
      return ERRORS.NONE
    }
    return { throttleMs: 0, groups: groups.map((group) => ({ group, errorCode: remove(group) })) }
  }
  /** Without making it. */
  #peek(name: string): Group {
    const none = { name, seats: new Map(), committed: new Map(), state: 'Empty' as const, generation: 0, protocol: '' }
    return this.#groups.get(name) ?? none
  }
  #group(name: string): Group {
    const group = this.#peek(name)
    this.#groups.set(name, group)
    return group
  }
}
