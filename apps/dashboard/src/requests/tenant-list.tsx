import { type DemandDTO, PATH, type TenantDTO, type TenantPageDTO } from "@resource-broker/contract";
import { Bar } from "../charts/bar.tsx";
import { count, plainNumber, quantitiesText } from "../format/amounts.ts";
import { Link } from "../parts/link.tsx";
import { List, type ListSpec, PAGE_SIZE, Pager, readOffset } from "../parts/list.tsx";
import { Card } from "../parts/page.tsx";
import { Empty } from "../parts/states.tsx";
import { type Column, None, Table } from "../parts/table.tsx";
import { useQuery, withQuery } from "../shell/navigation.ts";
import { budgetView, type LimitView, quotaViews, shareText, unmetView } from "./request-view.ts";
import { QUEUE_REFRESH } from "./request-lists.tsx";

type TenantDemand = DemandDTO["tenants"][number];

const DEMAND_COLUMNS: readonly Column<TenantDemand>[] = [
  { title: "Tenant", className: "cell-main", cell: ({ tenant }) => <TenantLink name={tenant} /> },
  ...(["waiting", "refused"] as const).map((kind) => ({
    title: kind === "waiting" ? "Waiting" : "Refused",
    className: "num cell-unmet",
    cell: ({ tenant, [kind]: unmet }: TenantDemand) => {
      const { requests, text } = unmetView([unmet]);
      if (requests === 0) return <None />;
      return (
        <>
          <Link to={withQuery("/requests", { show: kind === "waiting" ? null : kind, tenant })}>
            {count(requests, "request")}
          </Link>
          <span className="unmet">{text}</span>
        </>
      );
    },
  })),
];

function TenantLink({ name }: { readonly name: string }) {
  return (
    <Link to={withQuery("/requests", { tenant: name })} className="row-link" title={name}>
      {name}
    </Link>
  );
}

/** One answer has them all; the page shows as many of them at once as of any list. */
export function DemandByTenant({ demand: { tenants } }: { readonly demand: DemandDTO }) {
  const { query, change } = useQuery();
  const offset = readOffset(query, "from");
  const rows = tenants.slice(offset, offset + PAGE_SIZE);
  if (tenants.length === 0) return null;
  return (
    <Card title="Demand that is not met" note="the most requests first" className="is-demand-card">
      <Table
        caption="Demand by tenant"
        columns={DEMAND_COLUMNS}
        rows={rows}
        keyOf={({ tenant }) => tenant}
        className="is-demand"
      />
      {tenants.length > PAGE_SIZE && (
        <Pager
          offset={offset}
          shown={rows.length}
          total={tenants.length}
          onMove={(next) => change({ from: next === 0 ? null : next })}
        />
      )}
    </Card>
  );
}

const TENANTS: ListSpec = { path: PATH.tenants };

const COLUMNS: readonly Column<TenantDTO>[] = [
  {
    title: "Tenant",
    className: "cell-main",
    cell: ({ name, inPolicy }) => (
      <>
        <TenantLink name={name} />
        {!inPolicy && <span className="faint">a cluster without a tenant</span>}
      </>
    ),
  },
  {
    title: "Waiting",
    isNumber: true,
    cell: ({ waiting }) => (waiting === 0 ? <None /> : plainNumber(waiting)),
  },
  { title: "Reservations", isNumber: true, cell: ({ reservations }) => plainNumber(reservations) },
  {
    title: "Holds",
    className: "num cell-holds",
    cell: ({ holds, reservations }) => (reservations === 0 ? <None /> : quantitiesText(holds)),
  },
  { title: "Share of the fleet", isNumber: true, cell: (tenant) => shareText(tenant) },
  { title: "Quota", className: "cell-limits", cell: (tenant) => <Limits limits={quotaViews(tenant)} /> },
  {
    title: "Budget of a day",
    className: "cell-limits",
    cell: (tenant) => {
      const budget = budgetView(tenant);
      return <Limits limits={budget === null ? [] : [budget]} />;
    },
  },
];

function Limits({ limits }: { readonly limits: readonly LimitView[] }) {
  if (limits.length === 0) return <None>no limit</None>;
  return (
    <span className="limits">
      {limits.map(({ title, text, description, share, isOver }) => (
        <span key={title} className="bar-box" title={description}>
          <Bar label={description} fills={[{ name: "reserved", share }]} isOver={isOver} />
          <span className="bar-text num" aria-hidden="true">
            {title}: {text}
          </span>
        </span>
      ))}
    </span>
  );
}

/** What tenants hold, beside what they may hold and spend. */
export function TenantList() {
  return (
    <List<TenantDTO, TenantPageDTO>
      spec={TENANTS}
      refresh={QUEUE_REFRESH}
      caption="Tenants"
      columns={COLUMNS}
      keyOf={({ name }) => name}
      className="is-tenants"
      empty={
        <Empty title="There is no tenant">
          The policy names tenants; a cluster without one is listed when it holds something or waits.
        </Empty>
      }
      noMatch={null}
    />
  );
}
