import ipaddr from 'ipaddr.js';

/** Whether a text is a CIDR or a single address, of either family. */
export const isAddressRange = (text: string): boolean =>
  ipaddr.isValidCIDR(text) || (ipaddr.isValid(text) && !/^\d+$/.test(text));
