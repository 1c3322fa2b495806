import { startLiqoWorld } from "./testing/liqo-world.ts";
import { describeLiqoWay, TWO_CLUSTERS } from "./testing/two-reservations.ts";

describeLiqoWay("kube-sim", () => startLiqoWorld({ clusters: TWO_CLUSTERS }));
