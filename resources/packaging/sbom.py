"""The list of what the packages are made with, each with its licence, as SPDX 2.3: `package.py sbom`.

What the build read is asked of ninja: the headers of every object, the archives and libraries of every
link. What these load is asked of ldd. Debian's packages of all these files are the components, with the
licences of their copyright files; where those are no machine-readable list, the whole text is given.
"""
import hashlib
import json
import pathlib
import re
import subprocess

import package

# Debian's names of licences that SPDX names otherwise; names with + are "or later".
SPDX = {"expat": "MIT", "x11": "X11", "public-domain": "LicenseRef-public-domain", "zlib": "Zlib",
        "bsd-2-clause": "BSD-2-Clause", "bsd-3-clause": "BSD-3-Clause", "apache-2.0": "Apache-2.0",
        "boost-1.0": "BSL-1.0", "bsl-1.0": "BSL-1.0", "openssl": "OpenSSL", "isc": "ISC", "mit": "MIT",
        "mpl-2.0": "MPL-2.0", "ofl-1.1": "OFL-1.1", "sil-ofl-1.1": "OFL-1.1", "bitstream-vera":
        "Bitstream-Vera", "curl": "curl", "artistic": "Artistic-1.0-Perl", "cc0-1.0": "CC0-1.0"}
GNU = re.compile(r"(a?l?gpl)-?(\d)(?:\.(\d))?(\+?)$")


def words(*command):
    """Returns the lines that a command prints, whatever its exit status is."""
    return subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.splitlines()


def inputs(build):
    """Returns the files outside the project that the program and the libraries are made from: {path: how}."""
    files = {}
    targets = ("bin/conelab", "nox/bin/conelab", "conelab_shared")
    for line in words("ninja", "-C", build, "-t", "inputs", *targets):
        if re.match(r"/.*\.(a|so[.\d]*)$", line):
            files[line] = "STATIC_LINK" if line.endswith(".a") else "DYNAMIC_LINK"
    for line in words("ninja", "-C", build, "-t", "deps"):
        if line.startswith("    /"):
            files.setdefault(line.strip(), "DEPENDS_ON")
    cache = (build / "CMakeCache.txt").read_text()
    for font in re.findall(r"^CONELAB_FONT_\w+:FILEPATH=(.+)$", cache, re.M):
        files[font] = "CONTAINS"
    return files


def loaded(*binaries):
    """Returns the libraries that binaries load."""
    found = (re.search(r"=> (/\S+)", line) for binary in binaries for line in words("ldd", binary))
    return {match[1]: "DYNAMIC_LINK" for match in found if match}


def owners(files):
    """Returns the packages of files, {package: how}; the closest way of use of any file of it."""
    order = ("CONTAINS", "STATIC_LINK", "DYNAMIC_LINK", "DEPENDS_ON")
    real = {}
    for file, how in files.items():
        path = str(pathlib.Path(file).resolve())
        for name in (path, path.removeprefix("/usr")):
            real[name] = min(how, real.get(name, how), key=order.index)
    packages = {}
    for line in words("dpkg", "-S", *real):
        names, _, path = line.partition(": ")
        for name in names.split(", "):
            how = min(real[path], packages.get(name, real[path]), key=order.index)
            packages[name] = how
    return packages


def spdx_name(word):
    word = word.strip().lower()
    if match := GNU.match(word):
        family, major, minor, later = match.groups()
        return f"{family.upper()}-{major}.{minor or 0}-{'or-later' if later else 'only'}"
    return SPDX.get(word)


def expression(text):
    """Returns Debian's words for licences as an SPDX expression; None if SPDX names one not."""
    words = [[spdx_name(word) for word in re.split(r"\s+or\s+", part, flags=re.I)]
             for part in re.split(r",?\s+and\s+", text.strip(), flags=re.I)]
    if any(None in part for part in words):
        return None
    return " AND ".join(part[0] if len(part) == 1 else f"({' OR '.join(part)})" for part in words)


def licence_of(name, extracted):
    """Returns the licence expression of a Debian package. A copyright file that it does not express goes
    into `extracted`, whole."""
    text = (pathlib.Path("/usr/share/doc") / name / "copyright").read_text(errors="replace")
    found = set()
    for stanza in re.split(r"\n\s*\n", text):
        if stanza.startswith("Files:") and not re.match(r"Files:\s*debian/", stanza):
            licence = re.search(r"^License:([^\n]+)", stanza, re.M)
            words_found = expression(licence[1]) if licence else None
            found.update(words_found.split(" AND ") if words_found else [None])
    if not found or None in found:
        own = f"LicenseRef-{re.sub('[^A-Za-z0-9.-]', '-', name)}"
        extracted[own] = text
        found = (found - {None}) | {own}
    return " AND ".join(sorted(found))


def component(name, extracted):
    fields = words("dpkg-query", "-W", "-f", "${Version}\n${Architecture}\n${Homepage}\n", name)
    plain = name.partition(":")[0]
    version, architecture = fields[0], fields[1]
    return {"SPDXID": f"SPDXRef-{re.sub('[^A-Za-z0-9.-]', '-', plain)}", "name": plain,
            "versionInfo": version, "supplier": "Organization: Debian",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "homepage": (fields[2:] or [""])[0] or "NOASSERTION",
            "licenseConcluded": "NOASSERTION", "licenseDeclared": licence_of(plain, extracted),
            "copyrightText": "NOASSERTION",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator":
                              f"pkg:deb/debian/{plain}@{version}?arch={architecture}"}]}


def of_python(python, name, extracted):
    """Returns the component of a package of Python's that the module is compiled with."""
    script = (f"import importlib.metadata as m; d = m.distribution({name!r}); print(d.version);"
              "print(''.join(f.read_text() for f in d.files if 'licen' in f.name.lower()))")
    version, *text = words(python, "-c", script)
    extracted[f"LicenseRef-{name}"] = "\n".join(text)
    return {"SPDXID": f"SPDXRef-{name}", "name": name, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION", "licenseDeclared": f"LicenseRef-{name}",
            "copyrightText": "NOASSERTION",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:pypi/{name}@{version}"}]}


def document(build, python):
    """Returns the SPDX document of the packages that are made from a build folder."""
    binaries = [build / "bin/conelab", build / "nox/bin/conelab", build / "core/libconelab.so"]
    used = owners({**inputs(build), **loaded(*binaries)})
    used.pop("", None)
    extracted = {"LicenseRef-public-domain": "Dedicated to the public domain by its authors."}
    parts = [(component(name, extracted), used[name]) for name in sorted(used)]
    if python:
        parts.append((of_python(python, "nanobind", extracted), "STATIC_LINK"))
    own = {"SPDXID": "SPDXRef-conelab", "name": "conelab", "versionInfo": package.version(),
           "supplier": "Organization: The Conelab developers", "downloadLocation": "NOASSERTION",
           "filesAnalyzed": False, "licenseConcluded": "MIT", "licenseDeclared": "MIT",
           "copyrightText": "Copyright (c) 2026 The Conelab developers"}
    found = {"packages": [own] + [part for part, _ in parts],
             "hasExtractedLicensingInfos": [{"licenseId": name, "extractedText": extracted[name]}
                                            for name in sorted(extracted)],
             "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                                "relatedSpdxElement": "SPDXRef-conelab"}] +
             [{"spdxElementId": "SPDXRef-conelab", "relationshipType": how,
               "relatedSpdxElement": part["SPDXID"]} for part, how in parts]}
    digest = hashlib.sha256(json.dumps(found).encode()).hexdigest()
    created = package.utc(int(package.epoch()))
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"conelab-{package.version()}",
            "documentNamespace": f"https://spdx.invalid/conelab-{package.version()}-{digest}",
            "creationInfo": {"created": created, "creators": ["Tool: conelab-sbom"]}, **found}


def write(build, out, python=None):
    path = out / f"conelab-{package.version()}.spdx.json"
    path.write_text(json.dumps(document(build, python), indent=1, ensure_ascii=False) + "\n")
    return path
