import type { UiFlows, UiResource } from "@resource-broker/contract/dashboard";
import { amountText, count, plainNumber, RESOURCE_TITLES, RESOURCES } from "../format/amounts.ts";
import type { RefreshPolicy } from "../live/live-answer.ts";
import { withQuery } from "../net/query.ts";
import { FilterChip, RadioGroup } from "../parts/controls.tsx";
import { Icon } from "../parts/icons.tsx";
import { ClusterLink, Link } from "../parts/link.tsx";
import { Card, Page } from "../parts/page.tsx";
import { AnswerView, Empty } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { useAnswer } from "../shell/app-deps.ts";
import { useQuery } from "../shell/use-query.ts";
import "../reservations/reservations.css";
import { FlowDiagram } from "./flow-diagram.tsx";

const REFRESH: RefreshPolicy<UiFlows> = {
  isAffectedBy: ({ reservations }) => reservations.length > 0,
  minIntervalMs: 1000,
};

const OPTIONS = RESOURCES.map((name) => ({ name, title: RESOURCE_TITLES[name] }));
const SIZES = [
  { name: "few", title: "Biggest 20" },
  { name: "all", title: "All" },
] as const;
const FEW = 20;
const TABLE_ROWS = 100;

export function FlowsPage() {
  const { query, change } = useQuery();
  const resource = RESOURCES.find((each) => each === query.get("resource")) ?? "cpu";
  const only = query.get("cluster") ?? undefined;
  const isAll = query.get("show") === "all";
  const answer = useAnswer<UiFlows>(`/ui/flows?resource=${resource}`, REFRESH);
  return (
    <Page
      title="Flows"
      lead="Who lends to whom now. Providers on the left, requesters on the right; a wider band is a larger amount."
    >
      <div className="toolbar">
        <RadioGroup
          label="Resource"
          value={resource}
          options={OPTIONS}
          onChoose={(name) => change({ resource: name === "cpu" ? null : name })}
        />
        <RadioGroup
          label="How many"
          value={isAll ? "all" : "few"}
          options={SIZES}
          onChoose={(name) => change({ show: name === "all" ? "all" : null })}
        />
        {only !== undefined && (
          <FilterChip label="Cluster" value={only} onClear={() => change({ cluster: null })} />
        )}
      </div>
      <AnswerView answer={answer}>
        {(flows) => (
          <Flows
            flows={flows}
            resource={resource}
            most={isAll ? Number.POSITIVE_INFINITY : FEW}
            {...(only === undefined ? {} : { only })}
            onChoose={(cluster) => change({ cluster })}
          />
        )}
      </AnswerView>
    </Page>
  );
}

interface FlowsProps {
  readonly flows: UiFlows;
  readonly resource: UiResource;
  readonly most: number;
  readonly only?: string;
  readonly onChoose: (cluster: string) => void;
}

function Flows({ flows, resource, most, only, onChoose }: FlowsProps) {
  const edges = flows.edges.filter(
    ({ amounts, provider, requester }) =>
      amounts[resource] > 0 && (only === undefined || provider === only || requester === only),
  );
  if (edges.length === 0) {
    return (
      <Empty title={`No ${RESOURCE_TITLES[resource]} is lent now`} icon="flows">
        As soon as a reservation is granted, it appears here as a band from the provider to the requester.
      </Empty>
    );
  }
  return (
    <div className="stack">
      <Card
        title={RESOURCE_TITLES[resource]}
        note={`${count(edges.length, "pair")} of clusters${flows.left > 0 ? `, ${plainNumber(flows.left)} smaller ones not shown` : ""}`}
      >
        <FlowDiagram
          flows={flows}
          resource={resource}
          most={most}
          {...(only === undefined ? {} : { only })}
          onChoose={onChoose}
        />
      </Card>
      <FlowTable edges={edges.slice(0, TABLE_ROWS)} resource={resource} />
    </div>
  );
}

const COLUMNS = [
  { title: "Provider → requester" },
  { title: "Lent", isNumber: true },
  { title: "Reservations", isNumber: true },
];

/** The same in words: for the keyboard, for readers of a screen, and to click through. */
function FlowTable({ edges, resource }: { readonly edges: UiFlows["edges"]; readonly resource: UiResource }) {
  return (
    <Card title="The biggest, one by one">
      <Table caption="Who lends to whom" columns={COLUMNS} className="is-flows">
        {edges.map(({ provider, requester, amounts, reservations }) => (
          <tr key={`${provider} ${requester}`}>
            <th scope="row" className="cell-parties cell-main">
              <ClusterLink id={provider} />
              <Icon name="arrow" size={12} />
              <ClusterLink id={requester} />
            </th>
            <td data-label="Lent" className="num is-number">
              {amountText(resource, amounts[resource])}
            </td>
            <td data-label="Reservations" className="num is-number">
              <Link to={withQuery("/reservations", { provider, requester, phase: "live" })}>
                {count(reservations, "reservation")}
              </Link>
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}
