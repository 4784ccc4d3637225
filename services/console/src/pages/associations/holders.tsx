import { Link } from 'wouter';
import { ruleAddress } from '../rules/rule-api.ts';
import type { AssociatedDestination } from './association-api.ts';
import '../secrets/secrets.css';

/** Lists the holders of an association, which ends with the last of them. */
export const Holders = ({ association }: { association: AssociatedDestination }) => {
  const { type, name, held_by_hand: byHand, held_by_rules: rules } = association;
  return (
    <ul className="plain-list">
      {byHand && <li>set by hand</li>}
      {(rules as string[]).map((rule) => (
        <li key={rule}>
          rule <Link href={ruleAddress({ type, name, rule })}>{rule}</Link>
        </li>
      ))}
    </ul>
  );
};
