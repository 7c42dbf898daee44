import { expect, test } from "vitest";
import { refusePrivateAddress } from "../../../src/base/format/public-address.ts";

test.each([
  "https://example.com/",
  "http://example.com:8080/hook?x=1",
  "https://93.184.216.34/",
  "https://[2606:2800:220:1:248:1893:25c8:1946]/",
  "https://xn--bcher-kva.example/",
  "https://example.com./",
])("%s may be asked", (url) => {
  expect(() => refusePrivateAddress(new URL(url))).not.toThrow();
});

test.each([
  "ftp://example.com/",
  "file:///etc/passwd",
  "http://localhost/",
  "http://LOCALHOST./",
  "http://localhost../",
  "http://localhost.../",
  "http://api.localhost../",
  "http://.example.com/",
  "http://example..com/",
  "http://example.com../",
  "http://127.0.0.1../",
  "http://api.localhost/",
  "http://db.internal/",
  "http://printer.local/",
  "http://intranet/",
  "http://127.0.0.1/",
  "http://127.1/",
  "http://0x7f000001/",
  "http://017700000001/",
  "http://2130706433/",
  "http://0.0.0.0/",
  "http://10.0.0.1/",
  "http://172.16.0.1/",
  "http://192.168.1.1/",
  "http://169.254.169.254/latest/meta-data/",
  "http://100.64.0.1/",
  "http://224.0.0.1/",
  "http://255.255.255.255/",
  "http://192.0.2.1/",
  "http://198.18.0.1/",
  "http://[::]/",
  "http://[::1]/",
  "http://[fe80::1]/",
  "http://[fc00::1]/",
  "http://[ff02::1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:8.8.8.8]/",
  "http://[64:ff9b::7f00:1]/",
  "http://[2002:7f00:1::]/",
])("%s may not be asked", (url) => {
  expect(() => refusePrivateAddress(new URL(url))).toThrow("the address is not valid");
});
