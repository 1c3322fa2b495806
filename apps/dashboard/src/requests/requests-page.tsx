import { type DemandDTO, PATH } from "@resource-broker/contract";
import { count, plainNumber } from "../format/amounts.ts";
import { RadioGroup } from "../parts/controls.tsx";
import { Page, Total } from "../parts/page.tsx";
import { AnswerView } from "../parts/states.tsx";
import { useAnswer } from "../shell/app-deps.ts";
import { useQuery } from "../shell/navigation.ts";
import { QUEUE_REFRESH, RefusedList, WaitingList } from "./request-lists.tsx";
import { unmetTotals } from "./request-view.ts";
import "./requests.css";
import { DemandByTenant, TenantList } from "./tenant-list.tsx";

const ASKED = "What is asked for and not granted";

const LISTS = [
  {
    name: "waiting",
    title: "Waiting",
    lead: `${ASKED}: requests that wait, in the order in which they are granted.`,
  },
  {
    name: "refused",
    title: "Refused",
    lead: `${ASKED}: requests that were refused in the last day; retries are one row.`,
  },
  {
    name: "tenants",
    title: "Tenants",
    lead: `${ASKED} by tenant; what each holds, and what it may hold and spend.`,
  },
] as const;

export function RequestsPage() {
  const { query, change } = useQuery();
  const { name: shown, lead } = LISTS.find(({ name }) => name === query.get("show")) ?? LISTS[0];
  const demand = useAnswer<DemandDTO>(PATH.demand, QUEUE_REFRESH);
  return (
    <Page title="Requests" lead={lead}>
      <AnswerView answer={demand} rows={1}>
        {(data) => <Totals demand={data} />}
      </AnswerView>
      <div className="toolbar">
        <RadioGroup
          label="List"
          value={shown}
          options={LISTS}
          onChoose={(name) =>
            change({ show: name === "waiting" ? null : name, sort: null, order: null, offset: null })
          }
        />
      </div>
      {shown === "waiting" && <WaitingList />}
      {shown === "refused" && <RefusedList />}
      {shown === "tenants" && demand.data !== undefined && <DemandByTenant demand={demand.data} />}
      {shown === "tenants" && <TenantList />}
    </Page>
  );
}

function Totals({ demand }: { readonly demand: DemandDTO }) {
  const { waiting, refused } = unmetTotals(demand);
  const { left } = demand;
  return (
    <>
      <section className="totals is-unmet" aria-label="Totals">
        <Total
          title="Waiting requests"
          value={plainNumber(waiting.requests)}
          note={waiting.text || "none now"}
        />
        <Total
          title="Refused requests"
          value={plainNumber(refused.requests)}
          note={refused.text || "none in the last day"}
        />
      </section>
      {left > 0 && <p className="note">{count(left, "tenant")} with fewer requests not counted</p>}
    </>
  );
}
