import { AuditPage } from "../audit/audit-page.tsx";
import { CapacityPage } from "../capacity/capacity-page.tsx";
import { DecisionPage } from "../decisions/decision-page.tsx";
import { DecisionsPage } from "../decisions/decisions-page.tsx";
import { ClusterPage } from "../fleet/cluster-page.tsx";
import { FleetPage } from "../fleet/fleet-page.tsx";
import { FlowsPage } from "../flows/flows-page.tsx";
import { MoneyPage } from "../money/money-page.tsx";
import { Link } from "../parts/link.tsx";
import { Page } from "../parts/page.tsx";
import { Empty } from "../parts/states.tsx";
import { ReservationPage } from "../reservations/reservation-page.tsx";
import { ReservationsPage } from "../reservations/reservations-page.tsx";
import { WhatIfPage } from "../what-if/what-if-page.tsx";
import { useRoute } from "./session-context.ts";

export function CurrentPage() {
  const { page, id } = useRoute();
  switch (page) {
    case "fleet":
      return id === null ? <FleetPage /> : <ClusterPage key={id} id={id} />;
    case "flows":
      return <FlowsPage />;
    case "reservations":
      return id === null ? <ReservationsPage /> : <ReservationPage key={id} id={id} />;
    case "decisions":
      return id === null ? <DecisionsPage /> : <DecisionPage key={id} id={id} />;
    case "what-if":
      return <WhatIfPage />;
    case "capacity":
      return <CapacityPage />;
    case "money":
      return <MoneyPage />;
    case "audit":
      return <AuditPage />;
    case null:
      return (
        <Page title="No such page">
          <Empty title="Nothing is here" icon="search">
            <Link to="/fleet">Go to the fleet</Link>
          </Empty>
        </Page>
      );
  }
}
