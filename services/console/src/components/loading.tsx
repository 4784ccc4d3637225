/** Says that something is being read. Pages show it in the place of what is missing. */
export const Loading = ({ what }: { what: string }) => (
  <p className="loading" role="status">
    Reading {what}…
  </p>
);
