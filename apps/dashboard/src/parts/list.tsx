import type { ReactNode } from "react";
import { plainNumber } from "../format/amounts.ts";
import type { RefreshPolicy } from "../live/live-answer.ts";
import { useAnswer } from "../shell/app-deps.ts";
import { type QueryChange, useQuery, withQuery } from "../shell/navigation.ts";
import { FilterChip, RadioGroup, SearchBox, Select } from "./controls.tsx";
import { Icon } from "./icons.tsx";
import { Page } from "./page.tsx";
import { AnswerView } from "./states.tsx";
import { type Column, type Sorting, Table } from "./table.tsx";

export const PAGE_SIZE = 50;

interface Option {
  readonly name: string;
  readonly title: string;
}

/** What of a list stands in the address: the address can be shared, and a reload keeps it. */
export interface ListSpec {
  readonly path: string;
  /** For the box that filters by `q`; absent: there is none. */
  readonly searchLabel?: string;
  /** One of a few; the first means all of them. Absent: there is no such choice. */
  readonly filter?: Option & { readonly options: readonly Option[] };
  /** Filters that come by a link. */
  readonly links?: readonly Option[];
  /** What it may be sorted by, the default first; absent: by nothing. */
  readonly sorts?: readonly string[];
  /** The one that begins with the largest: the newest first. */
  readonly fallingSort?: string;
}

export interface ListState {
  /** Only those that are set. */
  readonly filters: Readonly<Record<string, string>>;
  readonly sorting: Sorting | undefined;
  readonly offset: number;
}

/** What stands in the address bar; what makes no sense there is left out. */
export function readList(spec: ListSpec, query: URLSearchParams): ListState {
  const { filter, links = [], searchLabel } = spec;
  const names = [...(searchLabel === undefined ? [] : ["q"]), ...links.map(({ name }) => name)];
  const chosen = filter?.options.slice(1).find(({ name }) => name === query.get(filter.name));
  const given = names.map((name) => [name, query.get(name) ?? ""] as const);
  const set = [[filter?.name ?? "", chosen?.name ?? ""] as const, ...given].filter(
    ([, value]) => value !== "",
  );
  return {
    filters: Object.fromEntries(set),
    sorting: readSorting(spec, query),
    offset: readOffset(query, "offset"),
  };
}

export function readOffset(query: URLSearchParams, name: string): number {
  const offset = Number(query.get(name) ?? 0);
  return Number.isSafeInteger(offset) && offset > 0 ? offset : 0;
}

function readSorting({ sorts = [], fallingSort }: ListSpec, query: URLSearchParams): Sorting | undefined {
  const sort = sorts.find((each) => each === query.get("sort")) ?? sorts[0];
  if (sort === undefined) return undefined;
  const order = query.get("order");
  if (order === "asc" || order === "desc") return { sort, order };
  return { sort, order: sort === fallingSort ? "desc" : "asc" };
}

export function listPath({ path }: ListSpec, { filters, sorting, offset }: ListState): string {
  return withQuery(path, { ...filters, ...sorting, offset, limit: PAGE_SIZE });
}

interface ListData<Row> {
  readonly items: readonly Row[];
  readonly total?: number;
}

interface ListProps<Row, Data extends ListData<Row>> {
  readonly spec: ListSpec;
  readonly refresh: RefreshPolicy<Data>;
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly rowClass?: (row: Row) => string | undefined;
  readonly className: string;
  /** Instead of the list while there is nothing at all. */
  readonly empty: ReactNode;
  readonly noMatch: ReactNode;
  /** Over the toolbar. */
  readonly above?: (data: Data, isFiltered: boolean) => ReactNode;
  /** At the end of the toolbar. */
  readonly legend?: ReactNode;
}

interface ListPageProps<Row, Data extends ListData<Row>> extends ListProps<Row, Data> {
  readonly title: string;
  readonly lead: string;
}

/** A page that is one long list. */
export function ListPage<Row, Data extends ListData<Row>>(props: ListPageProps<Row, Data>) {
  const { title, lead, ...list } = props;
  return (
    <Page title={title} lead={lead}>
      <List {...list} />
    </Page>
  );
}

/** Search, filters, table, pages. */
export function List<Row, Data extends ListData<Row>>(props: ListProps<Row, Data>) {
  const { spec, columns } = props;
  const { query, change } = useQuery();
  const state = readList(spec, query);
  const { sorting, offset } = state;
  const answer = useAnswer<Data>(listPath(spec, state), props.refresh);
  const isFiltered = Object.keys(state.filters).length > 0;
  const onSort = (next: Sorting): void => change({ ...next, offset: null });
  const shown = (data: Data): ReactNode => {
    const { items, total = items.length } = data;
    if (total === 0 && !isFiltered) return props.empty;
    return (
      <>
        {props.above?.(data, isFiltered)}
        <Toolbar {...{ spec, state, columns, change, onSort }} legend={props.legend} />
        {total === 0 ? (
          props.noMatch
        ) : (
          <>
            <Table {...props} rows={items} sorting={sorting} onSort={onSort} />
            <Pager
              {...{ offset, total }}
              shown={items.length}
              onMove={(next) => change({ offset: next === 0 ? null : next })}
            />
          </>
        )}
      </>
    );
  };
  return (
    <AnswerView answer={answer} rows={12}>
      {shown}
    </AnswerView>
  );
}

interface ToolbarProps<Row> {
  readonly spec: ListSpec;
  readonly state: ListState;
  readonly columns: readonly Column<Row>[];
  readonly change: (change: QueryChange, options?: { readonly replace?: boolean }) => void;
  readonly onSort: (sorting: Sorting) => void;
  readonly legend: ReactNode;
}

function Toolbar<Row>({ spec, state, columns, change, onSort, legend }: ToolbarProps<Row>) {
  const { filter, links = [], searchLabel } = spec;
  const { filters, sorting } = state;
  const hasControls = filter !== undefined || searchLabel !== undefined || sorting !== undefined;
  if (!hasControls && legend === undefined) return null;
  return (
    <div className="toolbar">
      {searchLabel !== undefined && (
        <SearchBox
          label={searchLabel}
          value={filters["q"] ?? ""}
          onSearch={(q) => change({ q, offset: null }, { replace: true })}
        />
      )}
      {filter !== undefined && <FilterChoice {...{ filter, filters, change }} />}
      {sorting !== undefined && <SortSelect {...{ columns, sorting, onSort }} />}
      {links.map(({ name, title }) => {
        const value = filters[name];
        if (value === undefined) return null;
        const clear = (): void => change({ [name]: null, offset: null });
        return <FilterChip key={name} label={title} value={value} onClear={clear} />;
      })}
      {legend}
    </div>
  );
}

interface FilterChoiceProps extends Pick<ToolbarProps<unknown>, "change"> {
  readonly filter: NonNullable<ListSpec["filter"]>;
  readonly filters: ListState["filters"];
}

function FilterChoice({ filter: { name, title, options }, filters, change }: FilterChoiceProps) {
  const all = options[0]?.name ?? "";
  return (
    <RadioGroup
      label={title}
      value={filters[name] ?? all}
      options={options}
      onChoose={(chosen) => change({ [name]: chosen === all ? null : chosen, offset: null })}
    />
  );
}

interface SortSelectProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly sorting: Sorting;
  readonly onSort: (sorting: Sorting) => void;
}

/** Sorting where a table has no heads to click on. */
function SortSelect<Row>({ columns, sorting, onSort }: SortSelectProps<Row>) {
  const options = columns.flatMap(({ title, sort }) => (sort === undefined ? [] : [{ name: sort, title }]));
  const isRising = sorting.order === "asc";
  return (
    <span className="only-narrow">
      <Select
        label="Sort by"
        value={sorting.sort}
        options={options}
        onChoose={(sort) => onSort({ ...sorting, sort })}
      />
      <button
        type="button"
        className="button"
        onClick={() => onSort({ ...sorting, order: isRising ? "desc" : "asc" })}
      >
        {isRising ? "↑ Rising" : "↓ Falling"}
      </button>
    </span>
  );
}

interface PagerProps {
  readonly offset: number;
  readonly shown: number;
  readonly total: number;
  readonly onMove: (offset: number) => void;
}

export function Pager({ offset, shown, total, onMove }: PagerProps) {
  const end = offset + shown;
  return (
    <PagerButtons
      {...(offset === 0 ? {} : { onBack: () => onMove(Math.max(0, offset - PAGE_SIZE)) })}
      {...(end >= total ? {} : { onNext: () => onMove(offset + PAGE_SIZE) })}
    >
      <span className="num">
        {shown === 0 ? "0" : `${plainNumber(offset + 1)}–${plainNumber(end)}`} of {plainNumber(total)}
      </span>
    </PagerButtons>
  );
}

interface PagerButtonsProps {
  readonly children?: ReactNode;
  readonly backText?: string;
  readonly nextText?: string;
  /** Absent: this is the first page, or the last. */
  readonly onBack?: () => void;
  readonly onNext?: () => void;
}

export function PagerButtons(props: PagerButtonsProps) {
  const { children, backText = "Previous", nextText = "Next", onBack, onNext } = props;
  return (
    <nav className="pager" aria-label="Pages">
      {children}
      <button type="button" className="button is-small" disabled={onBack === undefined} onClick={onBack}>
        <Icon name="back" size={14} /> {backText}
      </button>
      <button type="button" className="button is-small" disabled={onNext === undefined} onClick={onNext}>
        {nextText} <Icon name="arrow" size={14} />
      </button>
    </nav>
  );
}
