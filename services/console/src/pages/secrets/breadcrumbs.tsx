import { Link } from 'wouter';
import { crumbsOf } from './secret-links.ts';
import './secrets.css';

/** Leads to the mounts, and to each folder above a name. */
export const Breadcrumbs = ({ mount, name }: { mount: string; name: string }) => (
  <nav aria-label="Folders above" className="crumbs">
    <Link href="/secrets">Mounts</Link>
    {crumbsOf(mount, name).map(({ label, href }) => (
      <span key={href}>
        {' / '}
        <Link href={href}>{label}</Link>
      </span>
    ))}
  </nav>
);
