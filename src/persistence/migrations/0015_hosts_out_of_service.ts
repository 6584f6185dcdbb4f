/**
 * Which hosts an operator has taken out of service, so that they are counted and listed apart from those that are down.
 * Only adds: an older program goes on; what it retires or restores meanwhile is shown once this release has recorded
 * the next change of that host.
 */
import { Migration } from '@mikro-orm/migrations'

export class Migration0015 extends Migration {
  override up(): void {
    this.addSql(`alter table "hosts" add column "out_of_service" boolean null`)
    // the last decision of an operator about the host, as its journal holds it
    this.addSql(`update "hosts" set "out_of_service" = true where "liveness" <> 'removed' and 'retired' = (
      select "event" ->> 'care' from "journal", json_array_elements("journal"."data") with ordinality as "all" ("event", "place")
      where "journal"."key" = 'host/' || "hosts"."name" and "journal"."data"::text like '%"care"%' and "event" ->> 'care' is not null
      order by "journal"."version" desc, "place" desc limit 1
    )`)
  }
}
