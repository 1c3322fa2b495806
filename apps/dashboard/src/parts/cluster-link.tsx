import { hrefTo } from "../routing/route.ts";
import { Link } from "./link.tsx";

/** To the page of a cluster. A long name is cut off in a table, and whole under the pointer. */
export function ClusterLink({ id }: { readonly id: string }) {
  return (
    <Link to={hrefTo("fleet", id)} className="name-link clip" title={id}>
      {id}
    </Link>
  );
}
