#!/usr/bin/env python3
"""Checks that result files open as they are in h5py, xarray (both engines), netCDF4 and ncdump.

Usage: contract.py FILE.h5...   or   contract.py --writer PROGRAM, which PROGRAM DIRECTORY fills
Exits 1 with one line per broken promise. Needs python3-h5py, python3-xarray, python3-netcdf4,
python3-h5netcdf and netcdf-bin; exits 77 (skipped) where they are missing.
"""
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import h5py
    import netCDF4
    import numpy
    import xarray
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

warnings.filterwarnings("ignore")

ATTENTION = {  # data set -> axes
    "weights/weight": ["batch", "head", "query", "key"],
    "logits/logit": ["batch", "head", "query", "key"],
    "output/output": ["batch", "head", "query", "feature"],
    "output/lse": ["batch", "head", "query"],
    "gradients/q": ["batch", "head", "query", "feature"],
    "gradients/k": ["batch", "head", "key", "feature"],
    "gradients/v": ["batch", "head", "key", "value_feature"],
}
RUNTIME = ["operator", "pass", "device", "dtype", "threads", "dim", "head", "seq_len"]


class Checker:
    def __init__(self, path):
        self.path = path
        self.file = h5py.File(path, "r")
        self.broken = []

    def require(self, condition, message):
        if not condition:
            self.broken.append(f"{self.path}: {message}")

    def groups(self):
        found = ["/"]
        self.file.visititems(
            lambda name, item: found.append("/" + name) if isinstance(item, h5py.Group) else None)
        return found

    def datasets(self, group):
        return {n: d for n, d in self.file[group].items() if isinstance(d, h5py.Dataset)}

    def check_root(self):
        attributes = self.file.attrs
        self.require(attributes.get("NX_class") == "NXroot", "root is no NXroot")
        self.require(attributes.get("default") in self.file, "root has no valid default")
        self.require(int(attributes.get("conelab_format", 0)) == 1, "conelab_format is not 1")
        self.require(isinstance(attributes.get("creator"), str), "no creator")

    def check_strings(self, name, item):
        for key, value in item.attrs.items():
            if key in ("CLASS", "NAME"):  # written by HDF5's own dimension scales
                continue
            kind = item.attrs.get_id(key).get_type()
            if isinstance(kind, h5py.h5t.TypeStringID):
                self.require(kind.is_variable_str() and kind.get_cset() == h5py.h5t.CSET_UTF8,
                             f"{name}@{key} is no variable-length UTF-8 string")

    def check_dataset(self, group, name, data):
        place = f"{group}/{name}"
        self.require(data.dtype.names is None, f"{place} is a compound")
        self.require(h5py.check_enum_dtype(data.dtype) is None, f"{place} is an enumeration")
        text = h5py.check_string_dtype(data.dtype)
        if text is not None:
            self.require(text.length is None and text.encoding == "utf-8",
                         f"{place} is no variable-length UTF-8 string")
            [str(value, "utf-8") for value in numpy.atleast_1d(data[()]).ravel()]
        self.require(not data.id.get_create_plist().get_obj_track_times(),
                     f"{place} stores times")
        if data.ndim and text is None and not h5py.h5ds.is_scale(data.id) and data.size:
            self.require(data.chunks and data.shuffle and data.fletcher32
                         and data.compression == "gzip", f"{place} lacks filters")
        if h5py.h5ds.is_scale(data.id):
            self.require(data.ndim == 1 and data.dtype.kind in "iuf", f"{place} is no number scale")
            return
        for axis, dim in enumerate(data.dims):
            self.require(len(dim) == 1, f"{place} axis {axis} has {len(dim)} scales")
            if len(dim) == 1:
                self.require(dim[0].name.rpartition("/")[0] == group.rstrip("/"),
                             f"{place} has a scale outside its group")

    def check_group(self, group):
        item = self.file[group]
        self.require("NX_class" in item.attrs, f"{group} has no NX_class")
        order = item.id.get_create_plist().get_link_creation_order()
        self.require(order & h5py.h5p.CRT_ORDER_TRACKED, f"{group} does not track creation order")
        self.check_strings(group, item)
        if item.attrs.get("NX_class") == "NXdata":
            signal = item.attrs["signal"]
            self.require(signal in item, f"{group} has no signal {signal}")
            axes = list(item.attrs["axes"])
            self.require(axes == [d[0].name.rpartition("/")[2] for d in item[signal].dims],
                         f"{group} axes {axes} are not those of {signal}")
        for name, data in self.datasets(group).items():
            self.check_strings(f"{group}/{name}", data)
            self.check_dataset(group, name, data)

    def check_xarray(self, group, engine):
        data = self.datasets(group)
        with xarray.open_dataset(self.path, group=group, engine=engine,
                                 decode_times=False) as opened:
            opened = opened.load()
            self.require(set(opened.variables) == set(data),
                         f"{group} in {engine}: {sorted(opened.variables)} != {sorted(data)}")
            for name, item in data.items():
                variable = opened.variables[name]
                self.require(variable.shape == item.shape, f"{group}/{name} in {engine}: shape")
                if not h5py.h5ds.is_scale(item.id):
                    names = [d[0].name.rpartition("/")[2] for d in item.dims]
                    self.require(list(variable.dims) == names,
                                 f"{group}/{name} in {engine}: dims {variable.dims} != {names}")
                if item.dtype.kind in "iuf" and item.size:
                    self.require(numpy.array_equal(variable.values, item[()],
                                                   equal_nan=item.dtype.kind == "f"),
                                 f"{group}/{name} in {engine}: other numbers")

    def check_netcdf(self):
        with netCDF4.Dataset(self.path) as opened:
            for group in self.groups():
                seen = set((opened if group == "/" else opened[group]).variables)
                self.require(seen == set(self.datasets(group)), f"{group} in netCDF4: {seen}")
        dump = subprocess.run(["ncdump", "-h", self.path], capture_output=True, text=True)
        self.require(dump.returncode == 0, f"ncdump fails: {dump.stderr}")

    def check_attention(self):
        attention = self.file["attention"]
        self.require(attention.attrs.get("NX_class") == "NXentry", "/attention is no NXentry")
        self.require(attention.attrs.get("default") in attention, "/attention: wrong default")
        self.require(isinstance(attention.attrs.get("spec"), str), "/attention: no spec")
        self.require("output/output" in attention and "output/lse" in attention, "no output")
        for name, axes in ATTENTION.items():
            if name not in attention:
                continue
            found = [d[0].name.rpartition("/")[2] for d in attention[name].dims]
            self.require(found == axes, f"/attention/{name} has axes {found}, not {axes}")
        for name in ("parameters", "environment"):
            self.require(name in attention, f"/attention/{name} is missing")

    def check_bench(self):
        runtime = self.file["bench/runtime"]
        time = runtime["time"]
        found = [d[0].name.rpartition("/")[2] for d in time.dims]
        self.require(found == RUNTIME, f"/bench/runtime/time has axes {found}")
        for name in ("operator", "pass", "device", "dtype"):
            self.require(runtime[name].dtype.kind == "i", f"/bench/runtime/{name} is no integer")
            self.require(f"{name}_name" in runtime, f"/bench/runtime/{name}_name is missing")
        self.require("environment" in self.file["bench"], "/bench/environment is missing")

    def run(self):
        self.check_root()
        for group in self.groups():
            self.check_group(group)
            if self.datasets(group):
                for engine in ("netcdf4", "h5netcdf"):
                    self.check_xarray(group, engine)
        self.check_netcdf()
        if "attention" in self.file:
            self.check_attention()
        if "bench/runtime" in self.file:
            self.check_bench()
        return self.broken


def check(paths):
    broken = []
    for path in paths:
        checker = Checker(str(path))
        broken += checker.run()
        print(f"{path}: {len(checker.groups())} groups, {len(checker.broken)} broken promises")
    print("\n".join(broken))
    return 1 if broken or not paths else 0


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    if sys.argv[1] != "--writer":
        return check(sys.argv[1:])
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([sys.argv[2], directory], check=True)
        return check(sorted(pathlib.Path(directory).glob("*.h5")))


if __name__ == "__main__":
    sys.exit(main())
