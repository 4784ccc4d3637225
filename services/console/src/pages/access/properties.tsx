import './access.css';

/** Names and values of an object, as the API returns it. */
export const Properties = ({ of }: { of: object }) => (
  <dl className="properties">
    {Object.entries(of).map(([name, value]) => (
      <PropertyRow key={name} name={name} value={value} />
    ))}
  </dl>
);

const PropertyRow = ({ name, value }: { name: string; value: unknown }) => (
  <>
    <dt>{name}</dt>
    <dd>{textOfProperty(value)}</dd>
  </>
);

function textOfProperty(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–';
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map(textOfProperty).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
