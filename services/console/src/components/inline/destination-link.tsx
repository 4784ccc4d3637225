import { Link } from 'wouter';

/** Leads to the page of a destination. */
export const DestinationLink = ({ type, name }: { type: string; name: string }) => (
  <Link href={`/destinations/${encodeURIComponent(type)}/${encodeURIComponent(name)}`}>{name}</Link>
);

/** A cell of a table with a link to a destination, and its type below. */
export const DestinationCell = ({ type, name }: { type: string; name: string }) => (
  <>
    <DestinationLink type={type} name={name} />
    <div className="soft">{type}</div>
  </>
);
