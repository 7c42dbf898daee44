import { describe, expect, test } from "vitest";
import { checkAddress } from "../../../src/object/remotes/address.ts";

const HOSTILE_HOSTS = [
  // Names.

  "localhost",
  "LOCALHOST",
  "localhost.",
  "a.localhost",
  "printer",
  "printer.",
  "db.local",
  "a.lan",
  "nas.home.arpa",

  "metadata.google.internal",
  "metadata.google.internal.",
  "kubernetes.default.svc.cluster.local",
  "x.localdomain",
  "ｌｏｃａｌｈｏｓｔ",
  "loc%61lhost",
  "LocalHost%2e",
  "ip6-localhost",
  // Loopback, in the spellings that resolvers take.
  "127.0.0.1",
  "127.1",
  "127.0.1",
  "127.255.255.254",
  "127.0.0.1.",
  "0x7f.0.0.1",
  "0x7f000001",
  "2130706433",

  "017700000001",
  "0177.0.0.1",
  "0177.0x0.0.01",
  "127.0.0.0x1",
  "１２７.０.０.１",
  "127。0。0。1",
  "%31%32%37.0.0.1",
  "①②⑦.0.0.1",

  // This network, private ones, link-local with the metadata service, shared, benchmarks, examples.

  "0.0.0.0",
  "0",
  "0.1.2.3",
  "10.0.0.1",
  "10.255.255.255",
  "012.0.0.1",
  "167772161",
  "172.16.0.1",
  "172.31.255.255",

  "192.168.0.1",
  "0xc0a80001",
  "192.168.257",
  "169.254.169.254",
  "2852039166",
  "0xA9FEA9FE",
  "0251.0376.0251.0376",
  "100.64.0.1",
  "100.127.255.255",
  "192.0.0.8",
  "192.0.2.1",
  "192.88.99.1",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.7",
  "203.0.113.9",
  "224.0.0.1",
  "239.255.255.255",
  "240.0.0.1",
  "255.255.255.255",
  "4294967295",
  // IPv6: unspecified, loopback, mapped, compatible, translated, local, link-local, multicast,
  // discard, Teredo, documentation, 6to4.

  "[::]",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[0000::0001]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::ffff:8.8.8.8]",

  "[::127.0.0.1]",
  "[::ffff:0:127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[64:ff9b:1::1]",
  "[fc00::1]",
  "[fd00:ec2::254]",

  "[fe80::1]",
  "[fec0::1]",
  "[ff02::1]",
  "[100::1]",
  "[2001::1]",
  "[2001:0:7f00:1::]",
  "[2001:10::1]",
  "[2001:20::1]",

  "[2001:db8::1]",
  "[2002:7f00:1::]",
  "[2002:a9fe:a9fe::1]",
  "[3fff::1]",
  "[3fff:fff::1]",
  "[4000::1]",
  "[5f00::1]",
];

const PUBLIC_HOSTS = [
  "github.com",
  "git.example.co.uk",
  "xn--bcher-kva.example",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.1",
  "100.63.255.255",

  "100.128.0.1",
  "126.255.255.255",
  "128.0.0.1",
  "169.253.1.1",
  "172.15.255.255",
  "172.32.0.1",
  "192.0.1.1",
  "192.167.1.1",
  "198.17.1.1",
  "198.20.0.1",
  "223.255.255.255",
  "[2606:4700::1111]",
  "[2001:4860:4860::8888]",

  "[2001:200::1]",
  "[3fff:1000::1]",
  "[2a00:1450::1]",
  "localhost.example.com",
  "mylocal.example",
  "internal.example.com",
];

describe("an address", () => {
  test.each(HOSTILE_HOSTS)("%s is refused", (host) => {
    for (const scheme of ["https", "http"]) {
      for (const port of ["", ":8080"])
        expect(() => checkAddress(`${scheme}://${host}${port}/a/b.git`, false)).toThrow(/^the address is not valid: /);
    }
  });

  test.each(PUBLIC_HOSTS)("%s may be asked", (host) => {
    expect(checkAddress(`https://${host}/a/b.git`, false).pathname).toBe("/a/b.git");
    expect(checkAddress(`http://${host}:8080/a`, false).port).toBe("8080");
  });

  test.each([
    "",
    "github.com/a/b",
    "git@github.com:a/b.git",
    "ssh://git@github.com/a/b",
    "git://github.com/a/b",
    "file:///etc/passwd",
    "ftp://example.com/a",
    "data:text/plain,a",
    "javascript:alert(1)",
    "ext::sh -c id",
    "https://ada@example.com/a",
    "https://ada:secret@example.com/a",
    "https://:secret@example.com/a",
    "https://example.com@127.0.0.1/",
    "https://example.com/a?service=x",
    "https://example.com/a#b",
    "https://",
    "https://[::1",
    "https://exa mple.com/",
    "https://256.256.256.256/",
  ])("%j is refused, even where private ones are allowed", (text) => {
    expect(() => checkAddress(text, true)).toThrow(/^the address is not valid: /);
  });

  test("private ones may be asked where that is allowed", () => {
    for (const host of ["127.0.0.1:8787", "localhost", "[::1]", "10.1.2.3"])
      expect(checkAddress(`http://${host}/a`, true).pathname).toBe("/a");
  });
});
