import { Link } from 'wouter';

/** Leads to the page of a destination. */
export const DestinationLink = ({ type, name }: { type: string; name: string }) => (
  <Link href={`/destinations/${encodeURIComponent(type)}/${encodeURIComponent(name)}`}>{name}</Link>
);

/** The same with the type below it, as a cell of a table. */
export const DestinationCell = ({ type, name }: { type: string; name: string }) => (
  <>
    <DestinationLink type={type} name={name} />
    <div className="soft">{type}</div>
  </>
);
