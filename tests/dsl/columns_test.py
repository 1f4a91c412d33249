"""What other programs read in files of columns that test_dsl_columns writes: h5py, pandas and VTK.

Usage: columns_test.py h5py|pandas|vtk <path of test_dsl_columns>. Exits with 77 (skipped), and says so, if the Python
package is not installed (Debian: python3-h5py, python3-pandas, python3-vtk9), or the program was built without HDF5.
"""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

EXIT_SKIPPED = 77
DISTRIBUTION_PYTHON = "/usr/bin/python3"  # which has the distribution's packages
MODULES = {"h5py": ("h5py", "numpy"), "pandas": ("pandas", "h5py"), "vtk": ("vtk", "numpy")}

FISH, SHARKS = 300, 70
NAMES = ["id", "number_", "position_.x", "position_.y", "home_", "friend_", "is_hungry_", "mood_", "speed_", "eggs_",
         "link_.reef", "link_.distances.0", "link_.distances.1", "link_.depth", "link_.at.x", "link_.at.y", "unnamed_",
         "depths_.least", "depths_.most", "small_"]
TYPES = ["int64", "uint64", "float32", "float32", "int64", "int64", "uint8", "uint16", "float64", "uint32", "int64",
         "int16", "int16", "int32", "float32", "float32", "uint8", "uint8", "uint8", "int8"]
BASE_NAMES = ["id", "class", *NAMES[1:6]]


def expected_fish(number, number_of_reef, row):
    """Checks a row, which maps names to numbers or lists, of the fish with this number."""
    n = float(number)
    assert number % 2 == 0
    assert row["position_.x"] == n / 4 and row["position_.y"] == -n
    assert number_of_reef[int(row["home_"])] == number % 4 and row["friend_"] == -1
    assert row["is_hungry_"] == (number % 3 == 0) and row["mood_"] == number % 2
    assert [row["speed_"][i] for i in range(3)] == [n + 0.1 * i for i in range(3)]
    assert row["eggs_"] == 7 * n and number_of_reef[int(row["link_.reef"])] == (number + 1) % 4
    assert (row["link_.distances.0"], row["link_.distances.1"], row["link_.depth"]) == (n, -n, 2 * n)
    assert (row["link_.at.x"], row["link_.at.y"]) == (1, n)
    assert (row["depths_.least"], row["depths_.most"]) == (number % 100, number % 100 + 1)
    assert [int(row["unnamed_"][i]) for i in range(3)] == [1, number % 256, 3] and row["small_"] == -(number % 100)


class FilesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.path = pathlib.Path(cls.folder.name)
        subprocess.run([PROGRAM, "--test-case=other programs: files for them", "--no-skip"], check=True,
                       env=os.environ | {"DYNASOAR_COLUMNS": cls.folder.name}, stdout=subprocess.DEVNULL)

    def check_fish(self, columns, reefs):
        """Tables as dictionaries of arrays."""
        number_of_reef = dict(zip(map(int, reefs["id"]), map(int, reefs["number_"])))
        numbers = [int(number) for number in columns["number_"]]
        self.assertEqual(sorted(numbers), list(range(0, FISH, 2)))
        for row, number in enumerate(numbers):
            expected_fish(number, number_of_reef, {name: column[row] for name, column in columns.items()})

    def check_animals(self, columns, class_names):
        self.assertEqual([class_names[int(number)] for number in columns["class"]],
                         ["Fish"] * (FISH // 2) + ["Shark"] * SHARKS)
        self.assertEqual(sorted(int(number) for number in columns["number_"]),
                         [*range(0, FISH, 2), *range(1000, 1000 + SHARKS)])


class H5pyTest(FilesTest):
    def table(self, name, group):
        with h5py.File(self.path / (name + ".h5"), "r") as file:
            self.assertEqual(list(file), [group])
            self.assertEqual(file[group].attrs["step"], 17)
            return {name: column[...] for name, column in file[group].items()}

    def test_fish(self):
        fish = self.table("fish", "Fish")
        self.assertEqual(sorted(fish), sorted(NAMES))
        self.assertEqual([str(fish[name].dtype) for name in NAMES], TYPES)
        self.assertEqual(fish["speed_"].shape, (FISH // 2, 3))
        self.check_fish(fish, self.table("reefs", "Reef"))

    def test_classes_are_an_enumeration(self):
        animals = self.table("animals", "Animal")
        self.assertEqual(sorted(animals), sorted(BASE_NAMES))
        names = {number: name for name, number in h5py.check_enum_dtype(animals["class"].dtype).items()}
        self.assertEqual(names, {0: "Fish", 1: "Shark"})
        self.check_animals(animals, names)

    def test_no_objects(self):
        self.assertEqual({name: len(column) for name, column in self.table("none", "Fish").items()}, dict.fromkeys(NAMES, 0))


class PandasTest(FilesTest):
    def test_csv(self):
        fish = pandas.read_csv(self.path / "fish.csv")
        arrays = {"speed_": [f"speed_.{i}" for i in range(3)], "unnamed_": [f"unnamed_.{i}" for i in range(3)]}
        self.assertEqual(list(fish.columns), [part for name in NAMES for part in arrays.get(name, [name])])
        columns = {name: fish[arrays.get(name, name)].to_numpy() for name in NAMES}
        self.check_fish(columns, pandas.read_csv(self.path / "reefs.csv"))
        animals = pandas.read_csv(self.path / "animals.csv")
        self.check_animals({"class": range(len(animals)), "number_": animals["number_"]}, list(animals["class"]))
        self.assertEqual(len(pandas.read_csv(self.path / "none.csv")), 0)

    def test_hdf5(self):
        with h5py.File(self.path / "animals.h5", "r") as file:
            frame = pandas.DataFrame({name: column[...] for name, column in file["Animal"].items()})
        self.assertEqual(len(frame), FISH // 2 + SHARKS)
        self.assertEqual(frame.groupby("class")["number_"].min().to_dict(), {0: 0, 1: 1000})


class VtkTest(FilesTest):
    def read(self, name):
        reader = vtk.vtkXMLPolyDataReader()
        reader.SetFileName(str(self.path / (name + ".vtp")))
        errors = []
        reader.AddObserver("ErrorEvent", lambda *arguments: errors.append(arguments))
        reader.Update()
        self.assertEqual(errors, [])
        return reader.GetOutput()

    def table(self, data):
        arrays = data.GetPointData()
        return {arrays.GetArrayName(i): numpy_support.vtk_to_numpy(arrays.GetArray(i))
                for i in range(arrays.GetNumberOfArrays())}

    def test_fish(self):
        data = self.read("fish")
        fish = self.table(data)
        self.assertEqual(list(fish), NAMES)
        self.assertEqual([str(column.dtype) for column in fish.values()], TYPES)
        number_of_home = {int(home): int(number) % 4 for home, number in zip(fish["home_"], fish["number_"])}
        self.check_fish(fish, {"id": number_of_home.keys(), "number_": number_of_home.values()} |
                        self.reefs(fish, number_of_home))
        points = numpy_support.vtk_to_numpy(data.GetPoints().GetData())
        self.assertTrue((points[:, 0] == fish["position_.x"]).all() and (points[:, 1] == fish["position_.y"]).all())
        self.assertTrue((points[:, 2] == 0).all())
        self.assertEqual((data.GetNumberOfPoints(), data.GetNumberOfVerts()), (FISH // 2, FISH // 2))
        cell = [data.GetCell(i).GetPointId(0) for i in range(data.GetNumberOfCells())]
        self.assertEqual(cell, list(range(FISH // 2)))

    @staticmethod
    def reefs(fish, number_of_home):
        """Odd reefs have no fish any more, but links to them."""
        numbers = number_of_home | {int(reef): (int(number) + 1) % 4
                                    for reef, number in zip(fish["link_.reef"], fish["number_"])}
        return {"id": numbers.keys(), "number_": numbers.values()}

    def test_classes_have_names_and_frames_a_time(self):
        data = self.read("animals")
        fields = data.GetFieldData()
        names = fields.GetAbstractArray("class names")
        names = [names.GetValue(i) for i in range(names.GetNumberOfValues())]
        self.assertEqual(names, ["Fish", "Shark"])
        self.assertEqual(fields.GetArray("TimeValue").GetValue(0), 2.5)
        self.check_animals(self.table(data), names)

    def test_no_objects(self):
        self.assertEqual(self.read("none").GetNumberOfPoints(), 0)


def main():
    reader = sys.argv[1]
    missing = [module for module in MODULES[reader] if importlib.util.find_spec(module) is None]
    if missing:
        if os.path.exists(DISTRIBUTION_PYTHON) and sys.base_prefix != "/usr":
            os.execv(DISTRIBUTION_PYTHON, [DISTRIBUTION_PYTHON, *sys.argv])
        print("skipped: not installed:", ", ".join(missing))
        sys.exit(EXIT_SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        probe = subprocess.run([PROGRAM, "--test-case=other programs: files for them", "--no-skip"], check=False,
                               env=os.environ | {"DYNASOAR_COLUMNS": folder}, capture_output=True, text=True)
        if probe.returncode == EXIT_SKIPPED:
            print(probe.stdout)
            sys.exit(EXIT_SKIPPED)
        if probe.returncode == 0 and "h5py" in MODULES[reader] and not (pathlib.Path(folder) / "fish.h5").exists():
            print("skipped: the program was built without HDF5 (libhdf5-dev)")
            sys.exit(EXIT_SKIPPED)
    tests = {"h5py": H5pyTest, "pandas": PandasTest, "vtk": VtkTest}[reader]
    for module in MODULES[reader]:
        globals()[module] = importlib.import_module(module)
    if reader == "vtk":
        globals()["numpy_support"] = importlib.import_module("vtk.util.numpy_support")
    result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(tests))
    sys.exit(not result.wasSuccessful())


PROGRAM = os.path.abspath(sys.argv[2])
if __name__ == "__main__":
    main()
