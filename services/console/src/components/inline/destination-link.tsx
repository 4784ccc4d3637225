import { Link } from 'wouter';

/** Leads to the page of a destination. */
export const DestinationLink = ({ type, name }: { type: string; name: string }) => (
  <Link href={`/destinations/${encodeURIComponent(type)}/${encodeURIComponent(name)}`}>{name}</Link>
);
